import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { type LedgerResource, type MakeLedger, taken } from './ledger-resource.ts';
import { heldBy, holderOf, inState, specOf } from './record-spec.ts';

const ADDRESSES = ['10.0.0.1', '10.0.0.2', 'fd00::1'];

const script = fc.array(
  fc.record({
    address: fc.constantFrom(...ADDRESSES),
    move: fc.constantFrom('release', 'attachGeneration', 'doubt', 'retain', 'take over'),
    pauses: fc.nat({ max: 2 }),
  }),
  { minLength: 1, maxLength: 8 },
);
type Step = typeof script extends fc.Arbitrary<(infer S)[]> ? S : never;

export function describeConcurrency(makeLedger: MakeLedger): void {
  describe('many at once', () => {
    test('N takers on M addresses get min(N, M) distinct ones', async () => {
      const counts = fc.record({ takers: fc.integer({ min: 1, max: 40 }), addresses: fc.integer({ min: 1, max: 12 }) });
      await fc.assert(
        fc.asyncProperty(counts, async ({ takers, addresses }) => {
          await using resource = await makeLedger();
          const results = await Promise.all(
            Array.from({ length: takers }, (_, taker) => takeAny(resource.ledger, addresses, taker)),
          );
          const names = results.filter((record) => record !== null).map(({ name }) => name);
          expect(names).toHaveLength(Math.min(takers, addresses));
          expect(new Set(names).size).toBe(names.length);
        }),
        { numRuns: 25 },
      );
    });

    test('of many concurrent updates of one version exactly one succeeds', async () => {
      await using resource = await makeLedger();
      const seen = await taken(resource.ledger, specOf('10.0.0.1'));
      const outcomes = await Promise.all([
        ...Array.from({ length: 10 }, (_, n) =>
          resource.ledger.amend(seen, heldBy(seen.spec, { attachGeneration: n + 2 })),
        ),
        resource.ledger.amend(seen, inState(seen.spec, 'Suspect')),
        resource.ledger.release(seen),
      ]);
      expect(outcomes.filter(({ done }) => done)).toHaveLength(1);
    });

    test('each version is used by one write, and the unused versions are the content of the ledger', async () => {
      const scripts = fc.array(script, { minLength: 2, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(scripts, async (clients) => {
          await using resource = await makeLedger();
          const made: IpRecord[] = [];
          const spent: string[] = [];
          await Promise.all(clients.map((steps, client) => play(resource, client, steps, made, spent)));
          expect(new Set(spent).size).toBe(spent.length);
          const live = made.filter((record) => !spent.includes(versionOf(record)));
          expect(await resource.ledger.list({ limit: 100 })).toEqual(live.sort((a, b) => (a.name < b.name ? -1 : 1)));
        }),
        { numRuns: 40 },
      );
    });
  });
}

async function takeAny(ledger: Ledger, addresses: number, taker: number): Promise<IpRecord | null> {
  for (let n = 0; n < addresses; n++) {
    const address = `10.0.0.${((taker + n) % addresses) + 1}`;
    const outcome = await ledger.create(specOf(address, { holder: holderOf({ name: `web-${taker}` }) }));
    if (outcome.taken) return outcome.record;
  }
  return null;
}

async function play({ ledger }: LedgerResource, client: number, steps: Step[], made: IpRecord[], spent: string[]) {
  const own = { name: `web-${client}`, uid: `pod-uid-${client}` };
  for (const { address, move, pauses } of steps) {
    const seen = (await ledger.list({ limit: 100 })).find(({ spec }) => spec.address === address);
    for (let n = 0; n < pauses; n++) await new Promise(setImmediate);
    if (seen === undefined) {
      const outcome = await ledger.create(heldBy(specOf(address), own));
      if (outcome.taken) made.push(outcome.record);
    } else {
      const result = await makeMove(ledger, seen, move, own);
      if (result === 'refused') continue;
      spent.push(versionOf(seen));
      if (result !== 'gone') made.push(result);
    }
  }
}

type Moved = IpRecord | 'gone' | 'refused';

async function makeMove(
  ledger: Ledger,
  seen: IpRecord,
  move: Step['move'],
  own: { name: string; uid: string },
): Promise<Moved> {
  if (move === 'release') return (await ledger.release(seen)).done ? 'gone' : 'refused';
  const { state, holder } = seen.spec;
  if (move === 'take over') {
    const next = heldBy(inState(seen.spec, 'Allocated'), state === 'Suspect' ? own : {});
    if (state !== 'Suspect' && state !== 'Retained') return 'refused';
    const outcome = await ledger.takeOver(seen, next);
    return outcome.done ? outcome.record : 'refused';
  }
  if (state !== 'Allocated') return 'refused';
  const next = {
    attachGeneration: heldBy(seen.spec, { attachGeneration: holder.attachGeneration + 1 }),
    doubt: inState(seen.spec, 'Suspect'),
    retain: inState(seen.spec, 'Retained'),
  }[move];
  const outcome = await ledger.amend(seen, next);
  return outcome.done ? outcome.record : 'refused';
}

function versionOf({ uid, resourceVersion }: IpRecord): string {
  return `${uid}@${resourceVersion}`;
}
