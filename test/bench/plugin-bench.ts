import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { startAgent } from '#test/support/agent-process.ts';
import { builtPath } from '#test/support/built.ts';
import { addArgs } from '#test/support/memory-agent.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { type Line, ms, printTable } from './report.ts';
import { Client } from './socket-load.ts';
import { median, quantile, spread } from './statistics.ts';

const BLOCKS = 7;
const PER_BLOCK = 60;
/** A node that starts pods rarely is cold at each call: the processors sleep, and the caches hold other data. */
const APART_MS = 15;
const HOST_LOCAL = '/usr/lib/cni/host-local';
const POOL = poolYaml('bench', { subnet: '10.0.0.0/8', ips: ['10.0.0.1-10.200.0.0'] });

interface Call {
  readonly milliseconds: number;
  readonly peakKb: number;
}

/** The time that a runtime waits: fork, exec, stdin, stdout, wait. One small native timer starts all programs. */
export async function benchPlugin(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-bench-'));
  await using agent = await startAgent({ pools: { 'p.yaml': POOL }, flags: ['--log-level', 'warn'] });
  try {
    const native = await builtPath('native/ipledger');
    const node = await builtPath('node/ipledger');
    const peaks = new Map<string, number>();
    const client = new Client(agent.socket);
    const addFirst = async (containerID: string) =>
      void (await client.post(PATHS.ip, JSON.stringify(addArgs(containerID))));
    const ours =
      (program: string, verb: 'ADD' | 'DEL', pauseMs = 0) =>
      async () => {
        const env = { ...agent.env, CNI_COMMAND: verb };
        const before = verb === 'DEL' ? addFirst : undefined;
        const calls = await timeCalls(directory, { program, env, ipam: { type: 'ipledger' }, pauseMs, before });
        peaks.set(program, Math.max(peaks.get(program) ?? 0, ...calls.map((call) => call.peakKb)));
        return calls.map((call) => call.milliseconds);
      };
    const hostLocal =
      (pauseMs = 0) =>
      async () => {
        const dataDir = join(directory, 'host-local');
        await rm(dataDir, { recursive: true, force: true });
        const ipam = { type: 'host-local', dataDir, ranges: [[{ subnet: '10.0.0.0/8' }]] };
        const calls = await timeCalls(directory, { program: HOST_LOCAL, env: { CNI_COMMAND: 'ADD' }, ipam, pauseMs });
        return calls.map((call) => call.milliseconds);
      };
    const nothing = async () => {
      const calls = await timeCalls(directory, { program: '/bin/true', env: {}, ipam: {}, pauseMs: 0 });
      return calls.map((call) => call.milliseconds);
    };
    const measured = await measureInBlocks(
      {
        '/bin/true': nothing,
        'host-local ADD': hostLocal(),
        'native ADD': ours(native, 'ADD'),
        'native DEL': ours(native, 'DEL'),
        'Node form ADD': ours(node, 'ADD'),
        'Node form DEL': ours(node, 'DEL'),
        [`host-local ADD, ${APART_MS} ms apart`]: hostLocal(APART_MS),
        [`native ADD, ${APART_MS} ms apart`]: ours(native, 'ADD', APART_MS),
      },
      BLOCKS,
    );
    const values: Readonly<Record<string, readonly number[][]>> = measured.values;
    const p50s = (what: string) => (values[what] ?? []).map((block) => median(block));
    const lines = Object.entries(values).map(([what, blocks]): Line => {
      const baseline = p50s(what.endsWith('apart') ? `host-local ADD, ${APART_MS} ms apart` : 'host-local ADD');
      const ratios = p50s(what).map((value, at) => value / (baseline[at] ?? Number.NaN));
      const limited = what === 'native ADD' ? { limit: 'at most 0.70 ×', isMet: median(ratios) <= 0.7 } : {};
      return {
        what,
        value: `p50 ${ms(median(p50s(what)))}, p99 ${ms(quantile(blocks.flat(), 0.99))}`,
        against: `${median(ratios).toFixed(2)} × host-local ± ${(spread(ratios) * 100).toFixed(0)} %`,
        ...limited,
      };
    });
    client.close();
    const bytes = (await stat(native)).size;
    const peakMb = (peaks.get(native) ?? Number.NaN) / 1024;
    printTable(`One plugin call (${noteNoise(measured)})`, [
      ...lines,
      { what: 'native, size', value: `${(bytes / 1e6).toFixed(2)} MB`, limit: 'under 3 MB', isMet: bytes < 3e6 },
      { what: 'native, peak RSS', value: `${peakMb.toFixed(1)} MB`, limit: 'under 8 MB', isMet: peakMb < 8 },
    ]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Timing {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ipam: object;
  readonly pauseMs: number;
  /** Called before the block with the ID of each container. */
  readonly before?: ((containerID: string) => Promise<void>) | undefined;
}

/** One block of calls, one after the other. */
async function timeCalls(directory: string, { program, env, ipam, pauseMs, before }: Timing): Promise<Call[]> {
  const stdin = join(directory, 'stdin.json');
  await writeFile(stdin, JSON.stringify({ cniVersion: '1.0.0', name: 'bench', type: 'bench', ipam }));
  serial += 1;
  const block = `b${serial}`;
  for (let run = 0; run < PER_BLOCK; run += 1) await before?.(`${block}-${run}`);
  const variables = {
    CNI_CONTAINERID: block,
    CNI_NETNS: '/proc/self/ns/net',
    CNI_IFNAME: 'eth0',
    CNI_PATH: '/usr/lib/cni',
  };
  const timed = [`${PER_BLOCK}`, `${pauseMs}`, stdin, program];
  const { code, stdout, stderr } = await runProgram(await findTimer(), timed, { env: { ...variables, ...env } });
  if (code !== 0) throw new Error(`time-calls ended with ${code}: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [nanoseconds = 0, peakKb = 0, exitCode = 1] = line.split(' ').map(Number);
      if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}: ${stderr}`);
      return { milliseconds: nanoseconds / 1e6, peakKb };
    });
}

let serial = 0;
let timer: Promise<string> | undefined;

/** The timer is built with the plugin, from the same crate. */
function findTimer(): Promise<string> {
  timer ??= mustRun('hack/build-plugin', '--example', 'time-calls').then(
    (output) => output.trim().split('\n').at(-1) ?? '',
  );
  return timer;
}
