import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import { giveAddress, type Lan, makeLan, strayThreads, targetOn, WIRINGS } from './probe-lan.ts';

const V4 = '10.9.0.50';
const V6 = 'fd09::50';
const FREE = { kind: 'free' };

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

const LONG = { windowMs: 2_000 };

test.each([
  { name: 'is set down', netns: 'pod', command: 'link set eth0 down', why: 'network is down' },
  { name: 'is deleted', netns: 'pod', command: 'link delete eth0', why: 'network is down' },
  { name: 'loses its carrier', netns: 'host', command: 'link set eth0 down', why: 'eth0 went down during the probe' },
] as const)('a link that $name during the probe is an error, not a free address', async ({ netns, command, why }) => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  const probing = prober.probe(targetOn(lan, V4, LONG));
  await sleep(300);
  await lan[netns].must('ip', ...command.split(' '));
  expect(await probing).toEqual({ kind: 'failed', why: expect.stringContaining(why) });
});

test('a link that is down and up again during the probe is an error: something may have been missed', async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  const probing = prober.probe(targetOn(lan, V4, LONG));
  await sleep(300);
  await lan.pod.must('sh', '-c', 'ip link set eth0 down; ip link set eth0 up');
  expect(await probing).toEqual({ kind: 'failed', why: expect.stringContaining('network is down') });
});

test('a link without carrier is an error', async () => {
  await using lan = await makeLan('veth');
  await lan.host.must('ip', 'link', 'set', 'eth0', 'down');
  using prober = new Prober();
  expect(await prober.probe(targetOn(lan, V4))).toEqual({ kind: 'failed', why: 'eth0 is up but has no carrier' });
});

test('a borrowed link that is down is not set up, and nothing is asked on it', async () => {
  await using lan = await makeLan('veth');
  await giveAddress(lan.host, `${V4}/24`);
  await lan.pod.must('ip', 'link', 'set', 'eth0', 'down');
  using prober = new Prober();
  const target = { ...targetOn(lan, V4), isBorrowed: true };
  expect(await prober.probe(target)).toEqual({ kind: 'skipped', why: 'eth0 is down' });
  expect(await lan.pod.must('ip', '-o', 'link', 'show', 'eth0')).toMatch(/state DOWN/);
  await lan.pod.must('ip', 'link', 'set', 'eth0', 'up');
  await vi.waitFor(async () => expect(await prober.probe(target)).toEqual({ kind: 'conflict', mac: lan.hostMac }));
});

test('the probe waits for a late carrier', async () => {
  await using lan = await makeLan('veth');
  await giveAddress(lan.host, `${V4}/24`);
  await lan.host.must('ip', 'link', 'set', 'eth0', 'down');
  using prober = new Prober();
  const probing = prober.probe(targetOn(lan, V4));
  await sleep(400);
  await lan.host.must('ip', 'link', 'set', 'eth0', 'up');
  expect(await probing).toEqual({ kind: 'conflict', mac: lan.hostMac });
});

test.each(WIRINGS)('over %s: a single probe finds a host although its link was just set up', async (wiring) => {
  await using lan = await makeLan(wiring);
  await giveAddress(lan.host, `${V4}/24`);
  using prober = new Prober();
  for (let round = 0; round < 10; round += 1) {
    expect(await prober.probe(targetOn(lan, V4, { count: 1 }))).toEqual({ kind: 'conflict', mac: lan.hostMac });
    await lan.pod.must('ip', 'link', 'set', 'eth0', 'down');
  }
});

/** When both ends have the same interface index, the kernel checks the carrier only once a second. */
async function rewireWithSameNumbers(lan: Lan): Promise<void> {
  await lan.pod.must('ip', 'link', 'delete', 'eth0');
  const pair = `link add eth0 index 90 type veth peer name eth0 index 90 netns ${lan.host.name}`;
  await lan.pod.must('ip', ...pair.split(' '));
  await lan.host.must('ip', 'link', 'set', 'eth0', 'up');
}

test('a carrier that is lost at the end, which the kernel has not noticed yet, is an error', async () => {
  await using lan = await makeLan('veth');
  await rewireWithSameNumbers(lan);
  using prober = new Prober();
  await prober.probe(targetOn(lan, V4));
  const probing = prober.probe(targetOn(lan, V4, LONG));
  await sleep(1_500);
  const [down, up] = ['ip link set eth0 down', 'ip link set eth0 up'];
  await lan.host.must('sh', '-c', [down, up, down, up, down].join('; '));
  expect(await probing).toEqual({ kind: 'failed', why: 'eth0 went down during the probe' });
});

test('a frame that the link does not take is an error after three more tries', async () => {
  await using lan = await makeLan('veth');
  await lan.pod.must('ip', 'link', 'set', 'eth0', 'mtu', '68');
  using prober = new Prober();
  expect(await prober.probe(targetOn(lan, V4))).toEqual(FREE);
  expect(await prober.probe(targetOn(lan, V6))).toEqual({ kind: 'failed', why: 'eth0: send: message too long' });
});

test('a caller that gives up and a prober that is disposed end the probe, and nothing keeps running', async () => {
  await using lan = await makeLan('veth');
  const prober = new Prober();
  const giveUp = new AbortController();
  const abandoned = prober.probe(targetOn(lan, V4, LONG), giveUp.signal);
  const other = prober.probe(targetOn(lan, V6, LONG));
  await sleep(100);
  giveUp.abort();
  expect(await abandoned).toEqual({ kind: 'failed', why: 'the caller gave up' });
  prober[Symbol.dispose]();
  expect(await other).toEqual({ kind: 'failed', why: 'the agent stops' });
  expect(await prober.probe(targetOn(lan, V4))).toEqual({ kind: 'failed', why: 'the agent stops' });
  expect(await prober.probe(targetOn(lan, V4), AbortSignal.abort())).toEqual({
    kind: 'failed',
    why: 'the caller gave up',
  });
});
