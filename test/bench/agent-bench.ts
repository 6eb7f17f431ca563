import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { endBy, startReady } from '#test/support/agent-life.ts';
import { type AgentProcess, startAgent } from '#test/support/agent-process.ts';
import { addArgs, delArgs } from '#test/support/memory-agent.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { type Line, ms, printTable } from './report.ts';
import { type Client, runLoad } from './socket-load.ts';
import { median, quantile, spread } from './statistics.ts';

const BLOCKS = 5;
const POOL = { 'p.yaml': poolYaml('wide', { subnet: '10.0.0.0/8', ips: ['10.0.0.1-10.200.0.0'] }) };

/** ADDs per second over the socket, compared with an echo server, at three levels of concurrency. */
export async function benchThroughput(): Promise<void> {
  await using agent = await startAgent({ pools: POOL, flags: ['--log-level', 'warn'] });
  await using echo = await startEcho();
  const lines: Line[] = [];
  let noise = '';
  for (const inFlight of [1, 16, 64]) {
    const count = inFlight === 1 ? 500 : 1_500;
    const measured = await measureInBlocks(
      {
        echo: async () =>
          figures(await runLoad(echo.socket, count, inFlight, (client, at) => postAdd(client, `c${at}`))),
        agent: async () => figures(await runLoad(agent.socket, count, inFlight, addNext)),
      },
      BLOCKS,
    );
    noise = noteNoise(measured);
    const rates = measured.values.agent.map(([rate = 0]) => rate);
    const ratios = rates.map((rate, at) => rate / (measured.values.echo[at]?.[0] ?? Number.NaN));
    const p50 = median(measured.values.agent.map(([, value = 0]) => value));
    const p99 = median(measured.values.agent.map(([, , value = 0]) => value));
    lines.push({
      what: `ADD, ${inFlight} in flight`,
      value: `${median(rates).toFixed(0)}/s, p50 ${ms(p50)}, p99 ${ms(p99)}`,
      against: `${median(ratios).toFixed(2)} × echo ± ${(spread(ratios) * 100).toFixed(0)} %`,
      ...(inFlight === 1 ? { limit: 'p50 under 2 ms', isMet: p50 < 2 } : {}),
    });
  }
  printTable(`Agent, standalone, durable, socket to socket (${noise})`, lines);
}

let serial = 0;

/** Each call has a new container. */
async function addNext(client: Client): Promise<void> {
  serial += 1;
  await postAdd(client, `bench-${serial}`);
}

async function postAdd(client: Client, containerID: string): Promise<void> {
  await client.post(PATHS.ip, JSON.stringify(addArgs(containerID)));
}

function figures({ perSecond, latenciesMs }: { perSecond: number; latenciesMs: readonly number[] }): number[] {
  return [perSecond, quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)];
}

/** RSS of the shipped bundle, 5 s after the load. */
export async function benchMemory(): Promise<void> {
  await using agent = await startAgent({ pools: POOL, flags: ['--log-level', 'warn'] });
  const churn = (count: number) =>
    runLoad(agent.socket, count, 16, async (client, at) => {
      await postAdd(client, `c${at}`);
      await client.delete(PATHS.ip, JSON.stringify(delArgs(`c${at}`)));
    });
  const idle = readRssMb(agent);
  await churn(10_000);
  await sleep(5_000);
  const early = readRssMb(agent);
  await churn(40_000);
  await sleep(5_000);
  const late = readRssMb(agent);
  printTable('Agent memory (ADD and DEL, 16 in flight)', [
    { what: 'RSS idle', value: `${idle.toFixed(0)} MB` },
    { what: 'RSS after 10,000', value: `${early.toFixed(0)} MB` },
    { what: 'RSS after 50,000', value: `${late.toFixed(0)} MB`, limit: 'under 120 MB', isMet: late < 120 },
    {
      what: 'growth',
      value: '',
      against: `${(late / early).toFixed(2)} × after 10,000`,
      limit: '0.90 to 1.10 ×',
      isMet: late / early <= 1.1,
    },
  ]);
}

export function readRssMb({ pid }: Pick<AgentProcess, 'pid'>): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

async function startEcho() {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-echo-'));
  const socket = join(directory, 'echo.sock');
  const log: string[] = [];
  const program = join(import.meta.dirname, 'echo-server.ts');
  const child = await startReady(process.execPath, ['--max-semi-space-size=2', program, socket], socket, log);
  return {
    socket,
    async [Symbol.asyncDispose]() {
      await endBy(child, 'SIGKILL', log);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
