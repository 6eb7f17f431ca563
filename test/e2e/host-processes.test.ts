import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '#test/support/run-program.ts';

const ROOM = join(import.meta.dirname, '../../agent');

/** In a PID namespace of its own, as a container without hostPID. */
async function inContainer(script: string): Promise<string> {
  const program = [process.execPath, '--input-type=module-typescript', '--eval', script];
  const { stdout, stderr } = await runProgram('unshare', ['--pid', '--fork', '--mount-proc', ...program]);
  return stdout + stderr;
}

test('an agent that does not see the processes of its host never takes one for gone', async () => {
  const look = `
    import { hostSight, looksFrom } from '${ROOM}/node/netns-look.ts';
    const look = looksFrom(hostSight({ bootID: 'boot-1' }))();
    for (const netns of ['/proc/${process.pid}/ns/net', '/proc/1/ns/net', '/var/run/netns-of-nobody/a', '/var/run/nobody'])
      console.log(await look({ netns, netnsInode: 7 }));
  `;
  // Of the last one the path is seen to be gone; whether a process is still in it is not.
  expect(await inContainer(look)).toBe('unclear\nunclear\nunclear\npath-gone\n');
});

test('and does not probe in the namespace of such a path, which is another one or none', async () => {
  const probe = `
    import { pino } from 'pino';
    import { openProber } from '${ROOM}/compose/open-prober.ts';
    await using starting = new AsyncDisposableStack();
    const prober = openProber({ detectConflict: true, detectGateway: false }, starting, pino({ level: 'silent' }));
    const about = { interface: 'lo', address: { family: 4, value: 1n }, gateway: null };
    const how = { detectConflict: true, detectGateway: false, windowMs: 20, count: 1 };
    for (const pid of [1, 99999]) {
      const { kind, why } = await prober.probe({ netns: '/proc/' + pid + '/ns/net', ...about, ...how });
      console.log(kind, why);
    }
  `;
  const line = (pid: number) =>
    `skipped /proc/${pid}/ns/net names a process of the host, which this agent does not see\n`;
  expect(await inContainer(probe)).toBe(line(1) + line(99_999));
});
