import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Announcement, AnnounceTarget } from '#agent/probe/probe-target.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, NO_PROBING, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';

const POOLS = [
  buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.29'], isDefault: true }),
  buildPool({ name: 'v6', subnet: 'fd00::/64', ips: ['fd00::10-fd00::29'], isDefault: true }),
];

/** Announces as it is told to. */
class AnnouncingProber extends ScriptedProber {
  readonly targets: AnnounceTarget[] = [];
  outcome: () => Promise<Announcement> = async () => ({ kind: 'announced' });

  override async announce(target: AnnounceTarget): Promise<Announcement> {
    this.targets.push(target);
    await super.announce(target);
    return await this.outcome();
  }
}

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly because?: string;
}

async function startAnnouncing(prober: AnnouncingProber | null) {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const made = await startMemoryAgent(POOLS, { prober, probeSettings: NO_PROBING, log });
  return { ...made, unannounced: () => lines.filter(({ msg }) => msg === 'address not announced') };
}

test('with every detection off the addresses of a NIC are announced, together and in its own namespace', async () => {
  const prober = new AnnouncingProber();
  await using made = await startAnnouncing(prober);
  const { ips } = await made.agent.add(addArgs('c1', { ifName: 'net1' }), newCall());
  expect(prober.probed).toEqual([]);
  expect(prober.targets).toMatchObject([{ netns: '/proc/self/ns/net', interface: 'net1' }]);
  expect(prober.announced.toSorted()).toEqual(ips.map(({ address }) => address.replace(/\/.*/, '')).toSorted());
  expect(made.unannounced()).toEqual([]);
});

test('only the NIC of the call is announced, not the others of its pod', async () => {
  const prober = new AnnouncingProber();
  await using made = await startAnnouncing(prober);
  await made.agent.add(addArgs('c1'), newCall());
  await made.agent.add(addArgs('c1', { ifName: 'net1' }), newCall());
  expect(prober.targets.map((target) => [target.interface, target.addresses.length])).toEqual([
    ['eth0', 2],
    ['net1', 2],
  ]);
});

test('nobody waits for an announcement', async () => {
  const prober = new AnnouncingProber();
  prober.outcome = () => new Promise<never>(() => {});
  await using made = await startAnnouncing(prober);
  expect((await made.agent.add(addArgs('c1'), newCall())).ips).toHaveLength(2);
});

test('each reason for not announcing is said once, however many ADDs have it', async () => {
  const prober = new AnnouncingProber();
  await using made = await startAnnouncing(prober);
  const kinds = ['no-link', 'no-link', 'link-down', 'no-link', 'link-down'] as const;
  for (const [at, kind] of kinds.entries()) {
    prober.outcome = async () => ({ kind, why: `for the ${at}th time` });
    expect((await made.agent.add(addArgs(`c${at}`), newCall())).ips).toHaveLength(2);
  }
  expect(made.unannounced()).toMatchObject([
    { level: 40, because: 'no-link', why: 'for the 0th time' },
    { level: 40, because: 'link-down', why: 'for the 2th time' },
  ]);
});

test('a namespace that the agent does not see is said once too, and the ADDs succeed', async () => {
  const prober = new AnnouncingProber();
  await using made = await startAnnouncing(prober);
  for (const container of ['c1', 'c2']) {
    const { ips } = await made.agent.add(addArgs(container, { netNamespace: '/proc/4000000000/ns/net' }), newCall());
    expect(ips).toHaveLength(2);
  }
  expect(prober.targets).toEqual([]);
  expect(made.unannounced()).toMatchObject([{ because: 'no-namespace' }]);
});

test('an agent that may not send says nothing here: it said so when it started', async () => {
  await using made = await startAnnouncing(null);
  expect((await made.agent.add(addArgs('c1'), newCall())).ips).toHaveLength(2);
  expect(made.unannounced()).toEqual([]);
});
