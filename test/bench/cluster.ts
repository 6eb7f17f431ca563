import { benchAutoAdds } from './cluster-auto-adds.ts';
import { benchAutoPools } from './cluster-auto-pools.ts';
import { benchCalls } from './cluster-calls.ts';
import { benchClaims } from './cluster-claims.ts';
import { benchFit } from './cluster-fit.ts';
import { benchIdleAgents } from './cluster-idle.ts';
import { benchClusterMemory } from './cluster-memory.ts';
import { benchPatterns } from './cluster-patterns.ts';
import { benchRate } from './cluster-rate.ts';
import { benchStickyWaiters } from './cluster-sticky.ts';
import { benchWaiters } from './cluster-waiters.ts';
import { benchAllocations } from './controller-allocations.ts';
import { benchControllerCalls } from './controller-calls.ts';
import { benchControllerMemory } from './controller-memory.ts';
import { benchControllerSize } from './controller-size.ts';
import { benchStatusWrites } from './controller-status.ts';
import { benchSweep } from './controller-sweep.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { benchWorkloadsMemory } from './workloads-memory.ts';

const BENCHES = {
  calls: benchCalls,
  rate: benchRate,
  'auto-adds': benchAutoAdds,
  'auto-pools': benchAutoPools,
  fit: benchFit,
  waiters: benchWaiters,
  sticky: benchStickyWaiters,
  patterns: benchPatterns,
  claims: benchClaims,
  memory: benchClusterMemory,
  idle: benchIdleAgents,
  sweep: benchSweep,
  'controller-calls': benchControllerCalls,
  'controller-memory': benchControllerMemory,
  'controller-size': benchControllerSize,
  status: benchStatusWrites,
  'workloads-memory': benchWorkloadsMemory,
  allocations: benchAllocations,
};

/** `npm run bench:cluster` runs all, `npm run bench:cluster -- fit` the named ones. */
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in BENCHES));
if (unknown.length > 0) throw new Error(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(BENCHES)}`);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n${name} …`);
  const mark = markCpu();
  await bench();
  console.log(`  (${name}: others used ${(foreignShare(mark) * 100).toFixed(0)} % of the CPU meanwhile)`);
}
