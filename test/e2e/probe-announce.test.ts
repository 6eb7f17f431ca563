import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import type { Netns } from '#test/support/netns.ts';
import { announcementOn, giveAddress, makeLan, setSysctl, strayThreads, WIRINGS } from './probe-lan.ts';

const OLD_MAC = '02:00:00:00:00:99';

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

async function neighbourMac(netns: Netns, address: string): Promise<string | undefined> {
  const [entry]: { lladdr?: string }[] = JSON.parse(await netns.must('ip', '-json', 'neigh', 'show', address));
  return entry?.lladdr;
}

const CASES = WIRINGS.flatMap((wiring) => ['10.9.0.50', 'fd09::50'].map((address) => ({ wiring, address })));

test.each(CASES)('over $wiring: hosts that knew another owner of $address know the new one', async (row) => {
  await using lan = await makeLan(row.wiring);
  await lan.pod.must('ip', 'link', 'set', 'eth0', 'up');
  using prober = new Prober();
  const knew = ['neigh', 'replace', row.address, 'lladdr', OLD_MAC, 'dev', 'eth0', 'nud', 'stale'];
  // A kernel ignores a second announcement within this time.
  await setSysctl(lan.host, 'ipv4/neigh/eth0/locktime', '0');
  await lan.host.must('ip', ...knew);
  expect(await neighbourMac(lan.host, row.address)).toBe(OLD_MAC);
  const announce = async () => {
    expect(await prober.announcer.announce(announcementOn(lan, row.address))).toEqual({ kind: 'announced' });
    await sleep(100);
    return await neighbourMac(lan.host, row.address);
  };
  await expect.poll(announce, { timeout: 10_000 }).toBe(lan.podMac);
});

test('nothing happens before the caller continues, and an obstacle is returned as the outcome', async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober({ linkWaitMs: 0 });
  const told: unknown[] = [];
  const target = announcementOn(lan, '10.9.0.50');
  const announcing = [target, { ...target, interface: 'eth7' }, { ...target, netns: '/etc/passwd' }].map(
    async (it) => void told.push({ ...(await prober.announcer.announce(it)), interface: it.interface }),
  );
  expect(told).toEqual([]);
  await Promise.all(announcing);
  expect(told).toHaveLength(3);
  expect(told).toEqual(
    expect.arrayContaining([
      { interface: 'eth0', kind: 'link-down', why: 'eth0 is down' },
      { interface: 'eth7', kind: 'no-link', why: `${target.netns} has no interface eth7` },
      { interface: 'eth0', kind: 'no-namespace', why: expect.stringContaining('/etc/passwd is outside') },
    ]),
  );
});

test.each([
  { name: 'is set up', before: [], after: [['link set eth0 up']] },
  { name: 'is made', before: ['link set eth0 name eth9'], after: [['link set eth9 name eth0', 'link set eth0 up']] },
  {
    name: 'goes away and is made again',
    before: [],
    after: [['link set eth0 name eth9'], ['link set eth9 name eth0', 'link set eth0 up']],
  },
])('a link that $name after the answer is waited for', async ({ before, after }) => {
  await using lan = await makeLan('veth');
  const ip = (command: string) => lan.pod.must('ip', ...command.split(' '));
  for (const command of before) await ip(command);
  using prober = new Prober({ linkWaitMs: 30_000 });
  const announcing = prober.announcer.announce(announcementOn(lan, '10.9.0.50', 'fd09::50'));
  for (const commands of after) {
    await sleep(300); // it looks several times meanwhile
    for (const command of commands) await ip(command);
  }
  expect(await announcing).toEqual({ kind: 'announced' });
});

test('a namespace that is deleted, and an agent that stops, do not wait for their links', async () => {
  await using lan = await makeLan('veth');
  await using other = await makeLan('veth');
  const prober = new Prober({ linkWaitMs: 60_000 });
  const ofDeleted = prober.announcer.announce(announcementOn(lan, '10.9.0.50'));
  const ofStopped = prober.announcer.announce(announcementOn(other, '10.9.0.50'));
  await sleep(300);
  await lan.pod.remove();
  expect(await ofDeleted).toMatchObject({ kind: 'no-namespace' });
  prober[Symbol.dispose]();
  expect(await ofStopped).toEqual({ kind: 'failed', why: 'the agent stops' });
});

test('a switch that sends frames back does not make the pod its own duplicate', async () => {
  await using lan = await makeLan('bridge');
  await lan.middle.must('ip', 'link', 'set', 'pod0', 'type', 'bridge_slave', 'hairpin', 'on');
  using prober = new Prober({ linkWaitMs: 30_000 });
  const announcing = prober.announcer.announce(announcementOn(lan, '10.9.0.50', 'fd09::50'));
  await lan.pod.must('sh', '-c', 'ip address add fd09::50/64 dev eth0; ip link set eth0 up');
  expect(await announcing).toEqual({ kind: 'announced' });
  expect(await lan.pod.must('ip', 'address', 'show', 'to', 'fd09::50')).not.toMatch(/tentative|dadfailed/);
});

test('an IPv6 address for which the kernel found a duplicate is not announced', async () => {
  await using lan = await makeLan('veth');
  await giveAddress(lan.host, 'fd09::50/64');
  await lan.pod.must('sh', '-c', 'ip address add fd09::50/64 dev eth0; ip link set eth0 up');
  const shown = () => lan.pod.must('ip', 'address', 'show', 'to', 'fd09::50');
  await expect.poll(shown, { timeout: 20_000 }).toContain('dadfailed');
  using prober = new Prober({ linkWaitMs: 100 });
  expect(await prober.announcer.announce(announcementOn(lan, 'fd09::50'))).toEqual({
    kind: 'failed',
    why: 'fd09::50 stays tentative on eth0',
  });
});
