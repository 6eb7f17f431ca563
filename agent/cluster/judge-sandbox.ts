import type { JudgeLeftover } from '#agent/release/collector.ts';
import type { Pods } from '#agent/sources/pods.ts';

/** Two looks apart, as DESIGN asks of a namespace that nobody reported as gone. */
const GONE_MS = 60_000;

/**
 * Rule 6 on a node: a sandbox whose DEL never came is gone if its namespace is, seen twice, and its pod needs none any more.
 * What rests or waits for its holder is the controller's to end.
 */
export function judgeSandbox(pods: Pick<Pods, 'known'>, goneMs: number = GONE_MS): JudgeLeftover {
  return ({ spec }, { nowMs, goneSinceMs }) => {
    const { uid, netns } = spec.holder;
    if (spec.state !== 'Allocated' || goneSinceMs === null) return null;
    if (uid !== undefined && pods.known(uid)?.isAlive === true) return null;
    const leftMs = goneMs - (nowMs - goneSinceMs);
    const fact = `its network namespace ${netns} is gone, and so is its pod`;
    if (leftMs <= 0) return { free: true, because: fact };
    return { free: false, because: `${fact}; looked at again in ${Math.ceil(leftMs / 1000)} s` };
  };
}
