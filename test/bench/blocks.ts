import { foreignShare, markCpu } from './foreign-cpu.ts';

const MOST_FOREIGN = 0.1;

export interface Blocks<Name extends string> {
  /** One value per block and subject; block i of one subject was measured next to block i of the others. */
  readonly values: Readonly<Record<Name, readonly number[][]>>;
  readonly foreign: number;
  readonly isNoisy: boolean;
}

/**
 * Measures the subjects in turn, block by block, after one block of warm-up. A run with too much foreign CPU is repeated
 * once; if the second one is noisy too, it is returned with a mark.
 */
export async function measureInBlocks<Name extends string>(
  subjects: Readonly<Record<Name, () => Promise<number[]>>>,
  blocks: number,
): Promise<Blocks<Name>> {
  const names = Object.keys(subjects) as Name[];
  for (const name of names) await subjects[name]();
  let measured = await measureOnce(subjects, names, blocks);
  if (measured.isNoisy) {
    console.log(`  (${percent(measured.foreign)} of the machine was busy with something else: measured again)`);
    measured = await measureOnce(subjects, names, blocks);
  }
  return measured;
}

async function measureOnce<Name extends string>(
  subjects: Readonly<Record<Name, () => Promise<number[]>>>,
  names: readonly Name[],
  blocks: number,
): Promise<Blocks<Name>> {
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[][]>;
  const mark = markCpu();
  for (let block = 0; block < blocks; block += 1) {
    for (const name of names) values[name].push(await subjects[name]());
  }
  const foreign = foreignShare(mark);
  return { values, foreign, isNoisy: foreign > MOST_FOREIGN };
}

export function noteNoise({ foreign, isNoisy }: { foreign: number; isNoisy: boolean }): string {
  return isNoisy ? `NOISY: ${percent(foreign)} foreign CPU` : `${percent(foreign)} foreign CPU`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
