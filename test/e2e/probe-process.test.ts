import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeNetns } from '#test/support/netns.ts';
import { runProgram } from '#test/support/run-program.ts';
import { makeLan } from './probe-lan.ts';

const ROOM = join(import.meta.dirname, '../../agent/probe');

/** Runs a program of a few lines against this room; TypeScript, as a module. */
async function runScript(script: string, ...prefix: readonly string[]) {
  const [program = '', ...args] = [...prefix, process.execPath, '--input-type=module-typescript', '--eval', script];
  return await runProgram(program, args);
}

test('all threads of the pool start in the own namespace, before the first setns', async () => {
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

test('a process that cannot return from another namespace aborts at once', async () => {
  await using pod = await makeNetns();
  const { code, stdout, stderr } = await runScript(`
    import { openSync } from 'node:fs';
    import { HomeNetns } from '${ROOM}/kernel/home-netns.ts';
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
    `import { checkProbeCapabilities } from '${ROOM}/kernel/capabilities.ts'; console.log(checkProbeCapabilities());`,
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
