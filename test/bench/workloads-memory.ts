import { setTimeout as sleep } from 'node:timers/promises';
import { type ControllerProgram, runControllerProgram } from '#test/integration/controller-program.ts';
import { readRssMb } from './agent-bench.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { longestStallMs, stallLineOf, WITH_STALLS } from './controller-stalls.ts';
import { printTable } from './report.ts';
import { startStandIn } from './stand-in.ts';
import { median, spread } from './statistics.ts';

const PODS = 1_000;
const DEPLOYMENTS = 5_000;
const BLOCKS = 5;
const LIMIT_MB = 30;

/** What 5,000 Deployments and 50,000 ReplicaSets cost the leader, 20 of which ask for subnets; the API server is a stand-in. */
export async function benchWorkloadsMemory(): Promise<void> {
  const measured = await measureInBlocks({ without: () => rssWith(0), having: () => rssWith(DEPLOYMENTS) }, BLOCKS);
  const column = (name: 'without' | 'having', at: number) =>
    measured.values[name].map((block) => block[at] ?? Number.NaN);
  const [without, having] = [median(column('without', 0)), median(column('having', 0))];
  const more = column('having', 0).map((mb, at) => mb - (column('without', 0)[at] ?? Number.NaN));
  printTable(`Leader with ${DEPLOYMENTS} Deployments and ${10 * DEPLOYMENTS} ReplicaSets (${noteNoise(measured)})`, [
    { what: 'RSS without them, 5 s after the first sweep', value: `${without.toFixed(0)} MB` },
    {
      what: 'RSS with them',
      value: `${having.toFixed(0)} MB (at most ${median(column('having', 1)).toFixed(0)} MB meanwhile)`,
      against: `+ ${median(more).toFixed(1)} MB ± ${(spread(column('having', 0)) * 100).toFixed(0)} %`,
      limit: `+ ${LIMIT_MB} MB`,
      isMet: median(more) <= LIMIT_MB,
    },
    stallLineOf(Math.max(...column('having', 2))),
  ]);
}

async function rssWith(deployments: number): Promise<number[]> {
  await using api = await startStandIn(PODS, deployments);
  await using controller = await runControllerProgram(api.kubeconfig, 'bench', {
    IPLEDGER_GC_DEFAULT_INTERVAL_DURATION: '10',
    ...WITH_STALLS,
  });
  let highest = 0;
  const look = () => {
    highest = Math.max(highest, readRssMb(controller));
  };
  while (!hasSwept(controller)) {
    look();
    await sleep(100);
  }
  await sleep(5_000);
  look();
  return [readRssMb(controller), highest, await longestStallMs(controller)];
}

function hasSwept({ lines }: ControllerProgram): boolean {
  return lines.some(({ msg }) => msg === 'sweep finished');
}
