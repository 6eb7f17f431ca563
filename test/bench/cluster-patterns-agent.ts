import { setImmediate as turn } from 'node:timers/promises';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';

/**
 * A fresh agent on a memory ledger, and ADDs with 10 + 10 patterns among 2,000 pools: tells the parent the longest turn of the event
 * loop in each ADD, in 12 ADDs at once whose patterns are all different, and while as many that wait plan again after two changes of
 * the pools. In CPU time of the thread, so that a busy machine does not count.
 */
const POOLS = 2_000;
const PATTERNS = 10;
const ADDS = 20;
const AT_ONCE = 12;
const FULL = '10.255.0.1';

const pools = Array.from({ length: POOLS }, (_, at) => {
  const [net, isV4] = [at >> 1, at % 2 === 0];
  const subnet = isV4 ? `10.${net >> 8}.${net & 255}.0/24` : `fd00:${net.toString(16)}::/64`;
  return buildPool({ name: `rack-${net}-${isV4 ? 'v4' : 'v6'}`, subnet });
});
const full = buildPool({ name: 'full-v4', subnet: '10.255.0.0/24', ips: [FULL] });
/** Of the `at`-th call: no other call has one of its patterns. */
const patternsOf = (of: string, at: number | null) =>
  Array.from({ length: PATTERNS }, (_, digit) =>
    at === null ? `rack-*${digit}-${of}` : `*r*a*c*k-*${digit}*-${of}${'*'.repeat(at + 1)}`,
  );
const askFor = (ipv4: readonly string[], ipv6: readonly string[]) => ({
  'ipam.spidernet.io/ippool': JSON.stringify({ ipv4, ...(ipv6.length === 0 ? {} : { ipv6 }) }),
});

await using made = await startMemoryClusterAgent([...pools, full], { exhaustedWaitMs: 5_000 });
const add = async (name: string, annotations: Record<string, string>) => {
  await made.add(made.pods.put(name, { annotations }), name);
};
const single: number[] = [];
for (let at = 0; at < ADDS; at += 1) {
  single.push(await longestTurnMs(() => add(`pod-${at}`, askFor(patternsOf('v4', null), patternsOf('v6', null)))));
}
const atOnce = await longestTurnMs(async () => {
  const calls = Array.from({ length: AT_ONCE }, (_, at) =>
    add(`crowd-${at}`, askFor(patternsOf('v4', at), patternsOf('v6', at))).catch(() => {}),
  );
  await Promise.all(calls);
});
// The pool with one address is full, and the patterns match nothing else.
await add('first', askFor(['full-v4'], []));
const waiting = Array.from({ length: AT_ONCE }, (_, at) =>
  add(`waits-${at}`, askFor(['full-v4', ...patternsOf('none', at).slice(1)], [])).catch(() => {}),
);
await untilTurns(2_000);
let served = 0;
for (const call of waiting) void call.then(() => (served += 1));
// The change itself, which takes the same time without any call, is not measured.
const change = (at: number) => {
  const more = Array.from({ length: at + 1 }, (_, of) =>
    buildPool({ name: `late-${of}`, subnet: `10.254.${of}.0/24` }),
  );
  made.catalog.change([...pools, full, ...more]);
};
change(0);
change(1);
const waiters = await longestTurnMs(() => untilTurns(AT_ONCE * 4));
if (served > 0) throw new Error(`${served} calls do not wait`);
await Promise.all(waiting);
process.send?.({ single, atOnce, waiters });

async function untilTurns(turns: number): Promise<void> {
  for (let at = 0; at < turns; at += 1) await turn();
}

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
