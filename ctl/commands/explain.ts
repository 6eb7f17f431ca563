import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderExplain } from '#ctl/render/render-explain.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

export interface ExplainOptions {
  readonly ipv4Pool: readonly string[];
  readonly ipv6Pool: readonly string[];
  readonly namespace: string;
  readonly pod: string;
  readonly interface: string;
  readonly address: readonly string[];
}

/** `pod prod/web-0` is the short form of `--namespace prod --pod web-0`. */
export function withPodArgument(options: ExplainOptions, kind: string | undefined, name = ''): ExplainOptions {
  if (kind === undefined) return options;
  const [, namespace, pod] = /^([^/]+)\/([^/]+)$/.exec(name) ?? [];
  if (kind !== 'pod' || namespace === undefined || pod === undefined) {
    throw new IpamError('bad-input', 'expected explain pod NAMESPACE/NAME, or explain with options only');
  }
  return { ...options, namespace, pod };
}

/** Shows which pools an ADD with these facts would use, without taking an address. Exit code 1: no pool would serve it. */
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
  if (answer.refusal !== undefined) return 1;
  const isHeld = answer.held?.some((it) => it.interface === options.interface) === true;
  return isHeld || answer.pools.some((pool) => pool.place !== null) ? 0 : 1;
}
