import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { startAgent } from '#test/support/agent-process.ts';
import { addArgs, delArgs } from '#test/support/memory-agent.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { makePods, PODS } from './probe-crowd.ts';
import { ms, printTable } from './report.ts';
import { Client } from './socket-load.ts';
import { median } from './statistics.ts';

const BLOCKS = 5;
const MOST_MS = 50;
const EVERY_MS = 2;
const IDLE_MS = 300;
const POOL = poolYaml('probed', { subnet: '10.9.0.0/16', ips: ['10.9.1.1-10.9.250.0'], gateway: '10.9.0.1' });

/** The longest STATUS call while fifty ADDs probe, compared with an idle agent. */
export async function benchProbingStatus(): Promise<void> {
  await using made = new AsyncDisposableStack();
  const pods = await makePods(made);
  const flags = ['--detect-conflicts', '--detect-gateway', '--log-level', 'warn'];
  const agent = made.use(await startAgent({ pools: { 'p.yaml': POOL }, flags }));
  const [adding, asking] = [new Client(agent.socket), new Client(agent.socket)];
  made.defer(() => adding.close());
  made.defer(() => asking.close());
  const addAll = async () => {
    const started = pods.map(({ path }, at) =>
      adding.post(PATHS.ip, JSON.stringify(addArgs(`c${at}`, { netNamespace: path }))),
    );
    await Promise.all(started);
  };
  const measured = await measureInBlocks(
    {
      idle: () => askDuring(asking, sleep(IDLE_MS)),
      probing: async () => {
        const times = await askDuring(asking, addAll());
        await Promise.all(pods.map((_, at) => adding.delete(PATHS.ip, JSON.stringify(delArgs(`c${at}`)))));
        return times;
      },
    },
    BLOCKS,
  );
  const worst = (blocks: readonly number[][]) => median(blocks.map((times) => Math.max(...times)));
  const [idle, probing] = [worst(measured.values.idle), worst(measured.values.probing)];
  printTable(`STATUS while ${PODS} ADDs probe, slowest answer of a block (${noteNoise(measured)})`, [
    { what: 'idle', value: ms(idle) },
    {
      what: `${PODS} probing ADDs under way`,
      value: `${ms(probing)} of ${Math.min(...measured.values.probing.map(({ length }) => length))} or more asked`,
      limit: `at most ${MOST_MS} ms`,
      isMet: probing <= MOST_MS,
    },
  ]);
}

/** Calls STATUS repeatedly until `deed` is done; returns the time of each answer. */
async function askDuring(client: Client, deed: Promise<unknown>): Promise<number[]> {
  let isDone = false;
  const done = deed.finally(() => {
    isDone = true;
  });
  const times: number[] = [];
  while (!isDone) {
    const askedMs = performance.now();
    await client.get(PATHS.status);
    times.push(performance.now() - askedMs);
    await sleep(EVERY_MS);
  }
  await done;
  return times;
}
