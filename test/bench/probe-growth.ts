import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prober } from '#agent/probe/prober.ts';
import { makeLan, targetOn } from '#test/e2e/probe-lan.ts';
import { readRssMb } from './agent-bench.ts';
import { printTable } from './report.ts';

const PROBES = 2_000;
const AT_ONCE = 25;

export async function benchProbeGrowth(): Promise<void> {
  await using lan = await makeLan('macvlan');
  using prober = new Prober();
  let mostDescriptors = 0;
  const run = async (count: number) => {
    for (let done = 0; done < count; done += AT_ONCE) {
      const targets = Array.from({ length: AT_ONCE }, (_, at) =>
        targetOn(lan, at % 2 === 0 ? `10.9.0.${at}` : `fd09::${at}`, { windowMs: 20 }),
      );
      await Promise.all(targets.map((target) => prober.probe(target)));
      mostDescriptors = Math.max(mostDescriptors, countDescriptors());
    }
    while (countDescriptors() > before) await sleep(50);
    globalThis.gc?.();
    return { descriptors: countDescriptors(), rssMb: readRssMb(process) };
  };
  await sleep(500);
  const before = countDescriptors();
  const early = await run(PROBES);
  const late = await run(PROBES);
  printTable(`Growth over ${PROBES} probes, after as many to warm up`, [
    {
      what: 'descriptors',
      value: `${early.descriptors} → ${late.descriptors}, at most ${mostDescriptors}`,
      limit: 'no growth',
      isMet: late.descriptors <= early.descriptors,
    },
    {
      what: 'RSS',
      value: `${early.rssMb.toFixed(1)} → ${late.rssMb.toFixed(1)} MB`,
      against: `${(late.rssMb / early.rssMb).toFixed(3)} ×`,
      limit: '1.05 ×',
      isMet: late.rssMb / early.rssMb <= 1.05,
    },
  ]);
}

function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
