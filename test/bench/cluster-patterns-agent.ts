import { setImmediate as turn } from 'node:timers/promises';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

/**
 * A fresh agent on a memory ledger, and ADDs with 10 + 10 patterns among 2,000 pools: tells the parent the longest turn of the event
 * loop in each ADD, in CPU time of the thread, so that a busy machine does not count.
 */
const POOLS = 2_000;
const PATTERNS = 10;
const ADDS = 20;

const pools = Array.from({ length: POOLS }, (_, at) => {
  const [net, isV4] = [at >> 1, at % 2 === 0];
  const subnet = isV4 ? `10.${net >> 8}.${net & 255}.0/24` : `fd00:${net.toString(16)}::/64`;
  return buildPool({ name: `rack-${net}-${isV4 ? 'v4' : 'v6'}`, subnet });
});
const patternsOf = (family: string) => Array.from({ length: PATTERNS }, (_, at) => `rack-*${at}-${family}`);
const annotations = {
  'ipam.spidernet.io/ippool': JSON.stringify({ ipv4: patternsOf('v4'), ipv6: patternsOf('v6') }),
};

await using made = await startMemoryClusterAgent(pools);
const longest: number[] = [];
for (let add = 0; add < ADDS; add += 1) {
  const pod = made.pods.put(`pod-${add}`, { annotations });
  longest.push(await longestTurnMs(async () => void (await made.add(pod, `c${add}`))));
}
process.send?.(longest);

async function longestTurnMs(work: () => Promise<void>): Promise<number> {
  let isDone = false;
  let longestMs = 0;
  await turn();
  let sinceMs = threadCpuMs();
  const look = () => {
    const nowMs = threadCpuMs();
    longestMs = Math.max(longestMs, nowMs - sinceMs);
    sinceMs = nowMs;
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isDone = true;
  await turn();
  return longestMs;
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
