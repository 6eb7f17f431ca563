import { isStickyHolder, type StickySwitches } from '#pkg/crd/sticky-holder.ts';
import type { JudgeAfterlife } from '../release/afterlife.ts';
import type { Pods } from './pods.ts';

/**
 * A pod that is alive gets a new sandbox and keeps its address; a sticky one leaves it to the next pod of its name.
 * No read: the DEL itself proves that the sandbox is gone, so a pod this node does not know is given no benefit.
 */
export function podAfterlife(pods: Pick<Pods, 'known'>, switches: StickySwitches): JudgeAfterlife {
  return ({ spec }) => {
    const { holder, state } = spec;
    if (state !== 'Allocated' && state !== 'Suspect') return 'keep';
    if (holder.uid !== undefined && pods.known(holder.uid)?.isAlive === true) return 'keep';
    return isStickyHolder(holder, switches) ? 'retain' : 'free';
  };
}
