import { renderExplain } from './render-explain.ts';
import { type ExitCode, type Session, show } from './session.ts';

export interface ExplainOptions {
  readonly ipv4Pool: readonly string[];
  readonly ipv6Pool: readonly string[];
  readonly namespace: string;
  readonly pod: string;
  readonly interface: string;
  readonly address: readonly string[];
}

/** Asks what an ADD with these facts would be given; nothing is taken. Exit code 1: no pool would serve it. */
export async function explain(session: Session, options: ExplainOptions): Promise<ExitCode> {
  const answer = await session.client.explain({
    containerID: 'ipledgerctl-explain',
    ifName: options.interface,
    netNamespace: '',
    podNamespace: options.namespace,
    podName: options.pod,
    podUID: '',
    ...(options.ipv4Pool.length > 0 ? { defaultIPv4IPPool: options.ipv4Pool } : {}),
    ...(options.ipv6Pool.length > 0 ? { defaultIPv6IPPool: options.ipv6Pool } : {}),
    ...(options.address.length > 0 ? { requestedIPs: options.address } : {}),
  });
  show(session, answer, renderExplain);
  return answer.pools.some((pool) => pool.place !== null) ? 0 : 1;
}
