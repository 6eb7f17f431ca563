import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prober } from '#agent/probe/prober.ts';
import { makeLan, targetOn } from '#test/e2e/probe-lan.ts';
import { readRssMb } from './agent-bench.ts';
import type { Growth } from './probe-growth.ts';

const AT_ONCE = 25;

/** Makes the given number of probes for warm-up, and the same number again; prints the memory after each. */
const count = Number(process.argv[2]);
await using lan = await makeLan('macvlan');
using prober = new Prober();
const countDescriptors = () => readdirSync('/proc/self/fd').length;
await sleep(500);
const before = countDescriptors();
let mostDescriptors = 0;
const [early, late] = [await run(), await run()];
process.stdout.write(JSON.stringify({ early, late, mostDescriptors } satisfies Growth));

async function run(): Promise<Growth['early']> {
  for (let done = 0; done < count; done += AT_ONCE) {
    const targets = Array.from({ length: AT_ONCE }, (_, at) =>
      targetOn(lan, at % 2 === 0 ? `10.9.0.${at}` : `fd09::${at}`, { windowMs: 20 }),
    );
    await Promise.all(targets.map((target) => prober.probe(target)));
    mostDescriptors = Math.max(mostDescriptors, countDescriptors());
  }
  while (countDescriptors() > before) await sleep(50);
  return { descriptors: countDescriptors(), rssMb: readRssMb(process) };
}
