import { insideOf } from '#test/real-cluster/machine.ts';
import type { RealNode } from '#test/real-cluster/node.ts';
import { sumCounter } from '#test/support/api-metrics.ts';
import { mustRun } from '#test/support/run-program.ts';

/** What the agents of all nodes say of themselves. */
export interface AgentReading {
  readonly adds: number;
  readonly averageAddMs: number;
  readonly cpuMs: number;
  readonly rssMb: number;
}

interface Totals extends AgentReading {
  readonly addSeconds: number;
  since(before: Totals): AgentReading;
}

const MS_PER_TICK = 10;

export async function readAgents(nodes: readonly RealNode[]): Promise<Totals> {
  const each = await Promise.all(nodes.map(readAgent));
  const sum = (key: 'adds' | 'addSeconds' | 'cpuMs') => each.reduce((total, it) => total + it[key], 0);
  const [adds, addSeconds, cpuMs] = [sum('adds'), sum('addSeconds'), sum('cpuMs')];
  const rssMb = Math.max(...each.map((it) => it.rssMb));
  return {
    adds,
    addSeconds,
    cpuMs,
    rssMb,
    averageAddMs: (addSeconds / adds) * 1_000,
    since: (before) => ({
      adds: adds - before.adds,
      averageAddMs: ((addSeconds - before.addSeconds) / (adds - before.adds)) * 1_000,
      cpuMs: cpuMs - before.cpuMs,
      rssMb,
    }),
  };
}

async function readAgent(node: RealNode) {
  const script = `
# The bracket keeps the pattern from finding this script.
pid=$(pgrep -f '[a]gent/main.js --config')
cat "/proc/$pid/stat" && grep VmRSS "/proc/$pid/status"
exec 3<>/dev/tcp/127.0.0.1/5711 && printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
  const [nsenter = '', ...args] = insideOf(node.pid());
  const [stat = '', rss = '', ...metrics] = (await mustRun(nsenter, ...args, 'bash', '-euc', script)).split('\n');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const text = metrics.join('\n');
  const family = 'spiderpool_ipam_allocation_duration_seconds';
  return {
    adds: sumCounter(text, `${family}_count`, {}),
    addSeconds: sumCounter(text, `${family}_sum`, {}),
    cpuMs: ((fields[11] ?? 0) + (fields[12] ?? 0)) * MS_PER_TICK,
    rssMb: Math.round(Number(rss.replace(/\D/g, '')) / 1024),
  };
}
