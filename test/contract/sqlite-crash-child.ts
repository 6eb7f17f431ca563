import { writeSync } from 'node:fs';
import { openSqliteLedger } from '#pkg/ledger/sqlite/sqlite-ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { heldBy, specOf } from './record-spec.ts';

const WORKERS = 8;
const ADDRESSES_EACH = 25;

/** Each line is written before the next step: `try NAME` before a write, `is NAME VERSION` or `no NAME` after its answer. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

const [file = ''] = process.argv.slice(2);
const ledger = await openSqliteLedger(file);
say('open');
await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));

async function work(worker: number): Promise<never> {
  for (;;) {
    const name = `10.0.${worker}.${Math.floor(Math.random() * ADDRESSES_EACH)}`;
    const seen = await ledger.get(name);
    say(`try ${name}`);
    const now = await write(name, seen);
    say(now === null ? `no ${name}` : `is ${name} ${now.resourceVersion}`);
  }
}

async function write(name: string, seen: IpRecord | null): Promise<IpRecord | null> {
  if (seen === null) return (await ledger.create(specOf(name))).record;
  if (Math.random() < 0.5) {
    const outcome = await ledger.release(seen);
    if (!outcome.done) throw new Error(`release of ${name}: ${outcome.because}`);
    return null;
  }
  const outcome = await ledger.amend(
    seen,
    heldBy(seen.spec, { attachGeneration: seen.spec.holder.attachGeneration + 1 }),
  );
  if (!outcome.done) throw new Error(`amend of ${name}: ${outcome.because}`);
  return outcome.record;
}
