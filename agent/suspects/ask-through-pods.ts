import type { AddressProbe, Answering } from '#agent/allocate/address-probe.ts';
import type { LookAtNetns } from '#agent/node/netns-look.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** Links that cannot be probed on are usually all of one kind. */
const MOST_PODS = 3;

interface PodRound {
  readonly pool: Pool;
  /** Records of living pods of this node in that pool. */
  readonly pods: readonly IpRecord[];
  readonly probe: Pick<AddressProbe, 'whoAnswers'>;
  readonly look: LookAtNetns;
  readonly signal: AbortSignal;
}

/**
 * One round: asks from the interface of a living pod, which is in the network of the pool. The question names no sender, so
 * no neighbour learns anything from it. `unknown` where no pod of this node can ask.
 */
export async function askThroughPods(
  record: IpRecord,
  { pool, pods, probe, look, signal }: PodRound,
): Promise<Answering> {
  let tries = 0;
  for (const { spec: pod } of pods) {
    if (tries === MOST_PODS || signal.aborted) break;
    if ((await look(pod.holder)) !== 'there') continue;
    tries += 1;
    const { netns, interface: nic } = pod.holder;
    const holder = { ...record.spec.holder, interface: nic, ...(netns === undefined ? {} : { netns }) };
    const spec = { ...record.spec, holder };
    const answering = await probe.whoAnswers(spec, pool, { signal }, { isBorrowed: true }).catch(unknownWithoutGateway);
    if (answering !== 'unknown') return answering;
  }
  return 'unknown';
}

/** Where the gateway should answer and does not, silence says nothing. */
function unknownWithoutGateway(thrown: unknown): Answering {
  if (toIpamError(thrown).reason === 'gateway-unreachable') return 'unknown';
  throw thrown;
}
