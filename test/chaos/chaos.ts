import { parseArgs } from 'node:util';
import { runChaos } from './run-chaos.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seconds = wholeNumber('--seconds', values.seconds, 10, 86_400);
const seed = wholeNumber('--seed', values.seed, 0, 2 ** 32);

const outcome = await runChaos({ seed, seconds, settleSeconds: 180, say });
const { adds, addsFromSubnet, changedAsks, claims, allocations, acts, looks } = outcome;
const { faults, complaints, byTheOperatorsWord, contested } = outcome;
say(
  `${acts} acts of users, ${adds} ADDs answered (${addsFromSubnet} from pools of applications), ${looks} looks of the referee`,
);
say(`${changedAsks} times an application was moved to another subnet, resized, broken or repaired`);
say(`${claims} claims of Cluster API and ${allocations} IPAllocations of Vitistack had an address`);
say(`faults: ${[...faults].map(([name, count]) => `${count} × ${name}`).join(', ')}`);
say(`${byTheOperatorsWord} times the next pod of a StatefulSet came before one deleted by force had ended`);
say(`${contested} times two pods had one address after its record was deleted by hand or etcd was restored`);
for (const complaint of complaints) say(`\n${complaint}`);
say(complaints.length === 0 ? `seed ${seed}: in order` : `\nseed ${seed}: ${complaints.length} complaints`);
process.exit(complaints.length === 0 ? 0 : 1);

function wholeNumber(name: string, text: string, lowest: number, highest: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= lowest && value <= highest) return value;
  throw new Error(`${name}: expected a whole number from ${lowest} to ${highest}, found ${text}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
