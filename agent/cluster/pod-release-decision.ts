import type { DecideRelease } from '#agent/release/release-decision.ts';
import type { Pods } from '#agent/sources/pods.ts';
import { hasSandboxTraces, isStickyHolder, type StickySwitches } from '#pkg/record/ip-record.ts';

/**
 * A pod that is alive gets a new sandbox and keeps its address, unless that is in conflict. A sticky one keeps its own even
 * then, and leaves it to the next pod of its name. No read: the DEL itself proves that the sandbox is gone, so the
 * record of a pod that this node does not know is freed.
 */
export function podReleaseDecision(pods: Pick<Pods, 'known'>, switches: StickySwitches): DecideRelease {
  return ({ spec }, cause = 'sandbox-gone') => {
    const { holder } = spec;
    if (!hasSandboxTraces(spec)) return 'keep';
    const isSticky = isStickyHolder(holder, switches);
    const pod = holder.uid === undefined ? null : pods.known(holder.uid);
    if (pod?.isAlive === true && (isSticky || cause === 'sandbox-gone')) return 'keep';
    // A record without a container does not say whether this DEL is of the sandbox that uses the address, or of an older one. While
    // the object of the pod exists, that sandbox may still run. The controller frees the record after the object is gone.
    if (pod !== null && holder.containerID === undefined) return 'keep';
    // The controller makes a sticky holder's record Suspect only when its owner does not want the address any more.
    if (spec.state === 'Suspect') return 'free';
    return isSticky || spec.state === 'Retained' ? 'retain' : 'free';
  };
}
