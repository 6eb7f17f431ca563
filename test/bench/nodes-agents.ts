import { setTimeout as sleep } from 'node:timers/promises';
import { insideOf } from '#test/real-cluster/machine.ts';
import type { RealNode } from '#test/real-cluster/node.ts';
import { sumCounter } from '#test/support/api-metrics.ts';
import { mustRun } from '#test/support/run-program.ts';

/** What the agents of all nodes did in a burst. */
export interface AgentWork {
  readonly adds: number;
  readonly averageAddMs: number;
  readonly probes: number;
  /** Of all threads of all agents. */
  readonly cpuMs: number;
  /** Of their main threads: the time in which they could run and no processor was free for them. */
  readonly waitMs: number;
}

interface Totals extends Omit<AgentWork, 'averageAddMs'> {
  readonly addSeconds: number;
}

export interface Memory {
  readonly agentMb: number;
  readonly controllerMb: number;
}

const MS_PER_TICK = 10;
const NS_PER_MS = 1e6;
const REST_MS = 5_000;
/** The brackets keep a pattern from finding the script that it is in. */
const AGENT = '[a]gent/main.js --config';
const CONTROLLER = '[i]pledger/controller.js';

export async function readAgents(nodes: readonly RealNode[]): Promise<Totals> {
  const each = await Promise.all(nodes.map(readAgent));
  const sum = (key: keyof Totals) => each.reduce((total, it) => total + it[key], 0);
  return {
    adds: sum('adds'),
    addSeconds: sum('addSeconds'),
    probes: sum('probes'),
    cpuMs: sum('cpuMs'),
    waitMs: sum('waitMs'),
  };
}

export function workBetween(before: Totals, after: Totals): AgentWork {
  const grown = (key: keyof Totals) => after[key] - before[key];
  return {
    adds: grown('adds'),
    averageAddMs: (grown('addSeconds') / grown('adds')) * 1_000,
    probes: grown('probes'),
    cpuMs: grown('cpuMs'),
    waitMs: grown('waitMs'),
  };
}

async function readAgent(node: RealNode): Promise<Totals> {
  const script = `
pid=$(pgrep -f '${AGENT}')
cat "/proc/$pid/stat" "/proc/$pid/schedstat"
exec 3<>/dev/tcp/127.0.0.1/5711 && printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
  const [stat = '', schedule = '', ...metrics] = (await runIn(node, script)).split('\n');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const text = metrics.join('\n');
  const family = 'spiderpool_ipam_allocation_duration_seconds';
  return {
    adds: sumCounter(text, `${family}_count`, {}),
    addSeconds: sumCounter(text, `${family}_sum`, {}),
    probes: sumCounter(text, 'ipledger_probes_total', {}),
    cpuMs: ((fields[11] ?? 0) + (fields[12] ?? 0)) * MS_PER_TICK,
    waitMs: Number(schedule.split(' ')[1]) / NS_PER_MS,
  };
}

/** VmRSS after a rest, of the daemon of each kind that has the most. */
export async function readMemory(nodes: readonly RealNode[]): Promise<Memory> {
  await sleep(REST_MS);
  const largest = async (pattern: string) =>
    Math.max(...(await Promise.all(nodes.map((node) => rssOf(node, pattern)))));
  return { agentMb: await largest(AGENT), controllerMb: await largest(CONTROLLER) };
}

/** 0 where no such process runs: two nodes of three have a controller. */
async function rssOf(node: RealNode, pattern: string): Promise<number> {
  const script = `for pid in $(pgrep -f '${pattern}'); do grep VmRSS "/proc/$pid/status"; done`;
  const sizes = (await runIn(node, script)).matchAll(/(\d+) kB/g);
  return Math.round(Math.max(0, ...[...sizes].map(([, kb]) => Number(kb))) / 1024);
}

async function runIn(node: RealNode, script: string): Promise<string> {
  const [nsenter = '', ...args] = insideOf(node.pid());
  return await mustRun(nsenter, ...args, 'bash', '-euc', script);
}
