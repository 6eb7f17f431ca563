import type { Probing } from '#agent/allocate/address-probe.ts';
import type { Announcing } from '#agent/allocate/answer.ts';
import type { Announcement, AnnounceTarget, ProbeTarget, ProbeVerdict } from '#agent/probe/probe-target.ts';
import { formatAddress } from '#pkg/ip/address.ts';

/** Answers from a table of addresses; all others are free. */
export class ScriptedProber implements Probing, Announcing {
  readonly announcer: Announcing = this;
  readonly probed: string[] = [];
  readonly announced: string[] = [];
  readonly verdicts: Record<string, ProbeVerdict>;

  constructor(verdicts: Record<string, ProbeVerdict> = {}) {
    this.verdicts = verdicts;
  }

  async probe({ address, ignoredMac }: ProbeTarget, _signal?: AbortSignal): Promise<ProbeVerdict> {
    this.probed.push(formatAddress(address));
    const verdict = this.verdicts[formatAddress(address)] ?? { kind: 'free' };
    return verdict.kind === 'conflict' && verdict.mac === ignoredMac ? { kind: 'free' } : verdict;
  }

  async announce({ addresses }: AnnounceTarget): Promise<Announcement> {
    this.announced.push(...addresses.map(formatAddress));
    return { kind: 'announced' };
  }
}
