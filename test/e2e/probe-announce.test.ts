import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import type { Netns } from '#test/support/netns.ts';
import { makeLan, setSysctl, strayThreads, targetOn, WIRINGS } from './probe-lan.ts';

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
  const failures: string[] = [];
  using prober = new Prober({ onAnnounceFailure: (_, why) => failures.push(why) });
  const knew = ['neigh', 'replace', row.address, 'lladdr', OLD_MAC, 'dev', 'eth0', 'nud', 'stale'];
  // A kernel does not let itself be told twice within this time.
  await setSysctl(lan.host, 'ipv4/neigh/eth0/locktime', '0');
  await lan.host.must('ip', ...knew);
  expect(await neighbourMac(lan.host, row.address)).toBe(OLD_MAC);
  const announce = async () => {
    prober.announce(targetOn(lan, row.address));
    await sleep(100);
    return await neighbourMac(lan.host, row.address);
  };
  await expect.poll(announce, { timeout: 10_000 }).toBe(lan.podMac);
  expect(failures.filter((why) => why !== 'eth0 is down')).toEqual([]);
});

test('nothing is sent before the caller goes on, and what fails is told to the callback only', async () => {
  await using lan = await makeLan('veth');
  const told: string[] = [];
  using prober = new Prober({
    onAnnounceFailure: ({ interface: name, netns }, why) => told.push(`${name} ${netns}: ${why}`),
  });
  const target = targetOn(lan, '10.9.0.50');
  prober.announce(target);
  prober.announce({ ...target, interface: 'eth7' });
  prober.announce({ ...target, netns: '/etc/passwd' });
  expect(told).toEqual([]);
  await expect.poll(() => told.length).toBe(3);
  expect(told).toEqual(
    expect.arrayContaining([
      `eth0 ${target.netns}: eth0 is down`,
      `eth7 ${target.netns}: ${target.netns} has no interface eth7`,
      expect.stringContaining('/etc/passwd is outside'),
    ]),
  );
});
