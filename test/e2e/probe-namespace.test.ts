import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { findLink, readDriver } from '#agent/probe/kernel/link.ts';
import { NETNS_DIRECTORIES } from '#agent/probe/kernel/netns-path.ts';
import { SocketOpener } from '#agent/probe/kernel/socket-opener.ts';
import { Ticker } from '#agent/probe/kernel/ticker.ts';
import { Prober } from '#agent/probe/prober.ts';
import { makeNetns } from '#test/support/netns.ts';
import { mustRun } from '#test/support/run-program.ts';
import { giveAddress, makeLan, strayThreads, targetOn } from './probe-lan.ts';

const V4 = '10.9.0.50';

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

test('a namespace whose path vanishes during the probe is an error', async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  const probing = prober.probe(targetOn(lan, V4, { windowMs: 2_000 }));
  await sleep(300);
  await lan.pod.remove();
  const { path } = lan.pod;
  expect(await probing).toEqual({ kind: 'failed', why: `network namespace ${path} went away during the probe` });
  const again = await prober.probe(targetOn(lan, V4));
  expect(again).toEqual({ kind: 'failed', why: `network namespace ${path} does not exist` });
});

test('a namespace may be named by a process in it', async () => {
  await using lan = await makeLan('veth');
  await giveAddress(lan.host, `${V4}/24`);
  using prober = new Prober();
  const waiting = lan.pod.run('sleep', ['60']);
  await expect.poll(() => mustRun('ip', 'netns', 'pids', lan.pod.name)).toMatch(/^\d+\n$/);
  const pid = Number(await mustRun('ip', 'netns', 'pids', lan.pod.name));
  const verdict = await prober.probe({ ...targetOn(lan, V4), netns: `/proc/${pid}/ns/net` });
  process.kill(pid);
  await waiting;
  expect(verdict).toEqual({ kind: 'conflict', mac: lan.hostMac });
});

async function makeDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'ipl-netns-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('paths that are not a network namespace are refused, each with its reason', async () => {
  await using directory = await makeDirectory();
  const at = (name: string) => join(directory.path, name);
  for (const name of ['file', 'uts']) writeFileSync(at(name), '');
  await mustRun('mkfifo', at('pipe'));
  await mustRun('mkdir', at('directory'));
  await mustRun('mount', '--bind', '/proc/self/ns/uts', at('uts'));
  await using _mounted = { [Symbol.asyncDispose]: async () => void (await mustRun('umount', at('uts'))) };
  using prober = new Prober({ netnsDirectories: [directory.path] });
  const whyNot = async (path: string) => {
    const verdict = await prober.probe(targetOn({ pod: { path } }, V4));
    return verdict.kind === 'failed' ? verdict.why : verdict.kind;
  };
  for (const name of ['file', 'uts', 'pipe', 'directory']) {
    expect(await whyNot(at(name))).toBe(`${at(name)} is not a network namespace`);
  }
  expect(await whyNot(at('nothing'))).toBe(`network namespace ${at('nothing')} does not exist`);
  expect(await whyNot('/run/netns/pod')).toContain(`is outside ${directory.path}`);
  expect(await whyNot('/etc/passwd')).toContain('is outside');
  expect(await whyNot(`${directory.path}/../passwd`)).toContain('is not a plain path');
});

test('a link that does not exist yet is skipped, and so is one without neighbours', async () => {
  await using pod = await makeNetns();
  await pod.must('ip', 'tuntap', 'add', 'tun0', 'mode', 'tun');
  using prober = new Prober();
  expect(await prober.probe(targetOn({ pod }, V4))).toEqual({
    kind: 'skipped',
    why: `${pod.path} has no interface eth0 yet`,
  });
  for (const name of ['lo', 'tun0']) {
    expect(await prober.probe(targetOn({ pod }, V4, { interface: name }))).toEqual({
      kind: 'skipped',
      why: `${name} is a link without ARP and NDP`,
    });
  }
  const tooLong = 'eth-0123456789ab';
  expect(await prober.probe(targetOn({ pod }, V4, { interface: tooLong }))).toMatchObject({ kind: 'failed' });
});

test.each([
  { driver: 'veth', command: 'link add eth0 type veth peer name eth1' },
  { driver: 'macvlan', command: 'link add link eth9 name eth0 type macvlan' },
  { driver: 'tun', command: 'tuntap add eth0 mode tap' },
])('links are known by their driver: $driver', async ({ driver, command }) => {
  await using pod = await makeNetns();
  await pod.must('ip', ...'link add eth9 type veth peer name eth8'.split(' '));
  await pod.must('ip', ...command.split(' '));
  using opener = new SocketOpener(NETNS_DIRECTORIES, new Ticker(3));
  using socket = await opener.open(pod.path);
  expect(await findLink(socket.fd, 'eth0')).toMatchObject({ hasNeighbours: true });
  expect(await readDriver(socket.fd, 'eth0')).toBe(driver);
});

test('two hundred probes leave no descriptor and no timer behind', async () => {
  await using lan = await makeLan('bridge');
  await giveAddress(lan.host, `${V4}/24`);
  using prober = new Prober();
  await prober.probe(targetOn(lan, V4));
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  await sleep(200);
  const [descriptorsBefore, timersBefore] = [descriptors(), timers()];
  for (let round = 0; round < 4; round += 1) {
    const targets = Array.from({ length: 50 }, (_, at) =>
      at % 3 === 0
        ? targetOn(lan, V4)
        : targetOn(lan, at % 3 === 1 ? `10.9.0.${100 + at}` : `fd09::${at}`, { windowMs: 20 }),
    );
    const kinds = (await Promise.all(targets.map((target) => prober.probe(target)))).map(({ kind }) => kind);
    expect(kinds).toEqual(targets.map((_, at) => (at % 3 === 0 ? 'conflict' : 'free')));
  }
  expect(timers()).toBe(timersBefore);
  // The thread pool closes them, two at a time.
  await expect.poll(descriptors, { timeout: 30_000 }).toBe(descriptorsBefore);
});

test('a thousand probes at once are all carried out, with a bounded number of sockets', async () => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  let most = 0;
  const kinds = Array.from({ length: 1_000 }, async (_, at) => {
    const address = at % 2 === 0 ? `10.9.${at >> 8}.${at & 255}` : `fd09::${at}`;
    const { kind } = await prober.probe(targetOn(lan, address, { windowMs: 20 }));
    most = Math.max(most, descriptors());
    return kind;
  });
  expect(new Set(await Promise.all(kinds))).toEqual(new Set(['free']));
  expect(most - before).toBeLessThan(470);
  await expect.poll(descriptors, { timeout: 30_000 }).toBeLessThanOrEqual(before);
});
