import type { NetnsLook } from '#agent/node/netns-look.ts';
import type { JudgeLeftover, LeftoverVerdict } from '#agent/release/collector.ts';
import type { Pods } from '#agent/sources/pods.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { hasSandboxTraces } from '#pkg/record/ip-record.ts';

type KnownPods = Pick<Pods, 'known'>;

interface Proof {
  readonly neededMs: number;
  readonly fact: string;
}

/** Two scans of /proc: a process may escape one of them by a fork. */
const TWO_SCANS_MS = 500;
/** A main plugin may make its link after IPAM, and a busy node takes its time. */
const LINK_MADE_MS = 30_000;
/** Two looks apart, where nothing but the path is known. */
const PATH_GONE_MS = 60_000;
const OUTLIVING_MS = 60_000;

/** The records of a living pod are in use. Records that are Cooling, Quarantined or Retained without a sandbox are the controller's to judge. */
export function needsSandboxLook(pods: KnownPods): (record: IpRecord) => boolean {
  return ({ spec }) => hasSandboxTraces(spec) && pods.known(spec.holder.uid ?? '')?.isAlive !== true;
}

/** Rule 6 on a node: a sandbox whose DEL never came is gone if its namespace is, and its pod needs none any more. */
export function judgeSandbox(pods: KnownPods, now: () => Date = () => new Date()): JudgeLeftover {
  const needsLook = needsSandboxLook(pods);
  return (record, { nowMs, look, lookSinceMs, seenSinceMs }) => {
    if (!needsLook(record)) return null;
    const proof = proofOf(look, record);
    if (proof !== null) return toVerdict(proof, nowMs - lookSinceMs);
    const pod = pods.known(record.spec.holder.uid ?? '');
    const isInGrace = pod?.deletesAtMs !== undefined && pod.deletesAtMs + OUTLIVING_MS > now().getTime();
    const isOutliving = look === 'there' && nowMs - seenSinceMs >= OUTLIVING_MS && !isInGrace;
    // A static pod runs without its API object.
    if (!isOutliving || record.spec.holder.static === true) return null;
    return { free: false, because: `its pod is gone, but ${whereOf(record)} is still there`, isOutliving };
  };
}

function proofOf(look: NetnsLook, record: IpRecord): Proof | null {
  const where = whereOf(record);
  if (look === 'gone') return { neededMs: TWO_SCANS_MS, fact: `${where} is gone, and so is its pod` };
  if (look === 'bare') return { neededMs: LINK_MADE_MS, fact: `${where} has no link any more, and its pod is gone` };
  if (look !== 'path-gone' || record.spec.holder.netnsInode !== undefined) return null;
  return { neededMs: PATH_GONE_MS, fact: `${where} is gone, and so is its pod` };
}

function toVerdict({ neededMs, fact }: Proof, waitedMs: number): LeftoverVerdict {
  const leftMs = neededMs - waitedMs;
  if (leftMs <= 0) return { free: true, because: fact };
  return { free: false, because: `${fact}; looked at again in ${Math.ceil(leftMs / 1000)} s`, againInMs: leftMs };
}

function whereOf({ spec }: IpRecord): string {
  return `its network namespace ${spec.holder.netns}`;
}
