import { benchMemory, benchThroughput } from './agent-bench.ts';
import { benchPlugin } from './plugin-bench.ts';
import { benchPoolSizes } from './pool-size-bench.ts';
import { benchProbe } from './probe.ts';

const BENCHES = {
  plugin: benchPlugin,
  throughput: benchThroughput,
  pools: benchPoolSizes,
  memory: benchMemory,
  probe: benchProbe,
};

/** `npm run bench` runs all, `npm run bench -- pools` the named ones. */
const wanted = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n${name} …`);
  await bench();
}
