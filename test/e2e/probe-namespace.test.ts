import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import { makeNetns } from '#test/support/netns.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';
import { giveAddress, makeLan, strayThreads, targetOn } from './probe-lan.ts';

const V4 = '10.9.0.50';
const ROOM = join(import.meta.dirname, '../../agent/probe');

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

test('what is no network namespace is refused, each with its reason', async () => {
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
  // They are closed elsewhere, two at a time.
  await expect.poll(descriptors, { timeout: 30_000 }).toBe(descriptorsBefore);
});

/** Runs a program of a few lines against this room; TypeScript, as a module. */
async function runScript(script: string, ...prefix: readonly string[]) {
  const [program = '', ...args] = [...prefix, process.execPath, '--input-type=module-typescript', '--eval', script];
  return await runProgram(program, args);
}

test('all threads of the pool start at home, before the first namespace is entered', async () => {
  const { stdout } = await runScript(`
    import { readdirSync, readFileSync } from 'node:fs';
    import { Prober } from '${ROOM}/prober.ts';
    const workers = () => readdirSync('/proc/self/task')
      .filter((id) => readFileSync('/proc/self/task/' + id + '/comm', 'utf8') === 'libuv-worker\\n').length;
    const before = workers();
    using prober = new Prober();
    console.log(before, workers());
  `);
  expect(stdout).toBe('0 4\n');
});

test('a process that cannot come back from a foreign namespace ends itself at once', async () => {
  await using pod = await makeNetns();
  const { code, stdout, stderr } = await runScript(`
    import { openSync } from 'node:fs';
    import { HomeNetns } from '${ROOM}/home-netns.ts';
    const home = new HomeNetns();
    const netns = openSync('${pod.path}', 'r');
    home.openSocketIn(netns);
    console.log('first');
    home[Symbol.dispose]();
    home.openSocketIn(netns);
    console.log('second');
  `);
  expect(stdout).toBe('first\n');
  expect(stderr).toContain('cannot return from a foreign network namespace');
  expect(code).toBeNull();
});

test.each([
  { dropped: [], says: 'null' },
  { dropped: ['sys_admin'], says: 'probing needs CAP_SYS_ADMIN (to enter the network namespace of a pod)' },
  { dropped: ['net_raw'], says: 'probing needs CAP_NET_RAW (to send and receive ARP and NDP)' },
  { dropped: ['net_admin'], says: 'probing needs CAP_NET_ADMIN (to set a link up)' },
  { dropped: ['net_raw', 'sys_admin'], says: 'CAP_SYS_ADMIN (to enter the network namespace of a pod), CAP_NET_RAW' },
])('without $dropped the check says which capability is missing', async ({ dropped, says }) => {
  const without = dropped.length === 0 ? [] : ['--bounding-set', dropped.map((name) => `-${name}`).join(',')];
  const { stdout, stderr } = await runScript(
    `import { checkProbeCapabilities } from '${ROOM}/capabilities.ts'; console.log(checkProbeCapabilities());`,
    'setpriv',
    ...without,
  );
  expect(stdout + stderr).toContain(says);
});

test.each([
  { dropped: 'sys_admin', why: 'setns: operation not permitted' },
  { dropped: 'net_raw', why: 'socket: operation not permitted' },
])('without $dropped a probe fails and says so', async ({ dropped, why }) => {
  await using lan = await makeLan('veth');
  const { stdout } = await runScript(
    `
    import { Prober } from '${ROOM}/prober.ts';
    const prober = new Prober();
    const address = { family: 4, value: 1n };
    console.log(JSON.stringify(await prober.probe({ netns: '${lan.pod.path}', interface: 'eth0', address, gateway: null,
      detectConflict: true, detectGateway: false, windowMs: 100, count: 3 })));
    `,
    'setpriv',
    '--bounding-set',
    `-${dropped}`,
  );
  expect(JSON.parse(stdout)).toEqual({ kind: 'failed', why: `eth0: ${why}` });
});
