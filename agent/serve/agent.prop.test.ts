import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { drainSpool } from '#agent/release/drain-spool.ts';
import { spoolFileName } from '#pkg/agentapi/decode-args.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, delArgs, type MemoryAgent, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const POOLS = [
  buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.13'], isDefault: true }),
  buildPool({ name: 'v6', subnet: 'fd00::/126', isDefault: true }),
];
const CONTAINERS = ['a', 'b', 'c', 'd', 'e', 'f'];
const silent = pino({ level: 'silent' });

type Action = { readonly verb: 'add' | 'del' | 'spool' | 'drain' | 'gc' | 'restart'; readonly container: string };

const action = fc.record({
  verb: fc.constantFrom<Action['verb']>('add', 'add', 'add', 'del', 'del', 'spool', 'drain', 'gc', 'restart'),
  container: fc.constantFrom(...CONTAINERS),
});

test('any interleaving of ADD, DEL, spooled DEL, drain, GC and restart: no address twice, no leak', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(action, { maxLength: 8 }), { maxLength: 8 }), async (rounds) => {
      const ledger = createMemoryLedger();
      let made = await startMemoryAgent(POOLS, { ledger });
      try {
        const live = new Map<string, readonly string[]>();
        for (const round of rounds) {
          const parallel = onePerContainer(round.filter(({ verb }) => verb !== 'restart'));
          await Promise.all(parallel.map((it) => act(made, it, live)));
          await expectAnswered(ledger, live);
          if (parallel.length < round.length) made = await restart(made, ledger);
        }
        for (const container of CONTAINERS) await made.agent.del(delArgs(container));
        expect(await ledger.list({ limit: 100 })).toEqual([]);
      } finally {
        await made[Symbol.asyncDispose]();
      }
    }),
    { numRuns: 100 },
  );
});

/** Every container that was answered and not deleted since still has exactly what it was told; nobody shares. */
async function expectAnswered(ledger: Ledger, live: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const records = await ledger.list({ limit: 100 });
  const held = new Map<string, string[]>();
  for (const { spec } of records) {
    const container = spec.holder.containerID ?? '';
    held.set(container, [...(held.get(container) ?? []), `${spec.address}/${spec.prefix}`]);
  }
  for (const [container, addresses] of live) expect(held.get(container)?.toSorted()).toEqual([...addresses].toSorted());
  const told = [...live.values()].flat();
  expect(new Set(told).size).toBe(told.length);
}

async function act(
  made: MemoryAgent,
  { verb, container }: Action,
  live: Map<string, readonly string[]>,
): Promise<void> {
  if (verb === 'add') {
    const answer = await made.agent.add(addArgs(container), newCall()).catch(() => null);
    if (answer === null) return;
    const addresses = answer.ips.map((ip) => ip.address);
    expect(addresses).toHaveLength(2);
    live.set(container, addresses);
  } else if (verb === 'del') {
    live.delete(container);
    await made.agent.del(delArgs(container));
  } else if (verb === 'spool') {
    live.delete(container);
    const del = delArgs(container);
    await writeFile(join(made.spoolDirectory, spoolFileName(del)), JSON.stringify({ version: 1, del }));
  } else if (verb === 'drain') {
    await drainSpool(made.spool, made.releaser, silent);
  } else {
    // The runtime lists what it knows before it calls, and may be adding more meanwhile.
    const call = newCall();
    const validAttachments = [...live.keys()].map((containerID) => ({ containerID, ifName: 'eth0' }));
    await made.agent.gc({ network: 'lab', validAttachments }, call);
  }
}

/** A runtime never runs two calls for one container at once. */
function onePerContainer(round: readonly Action[]): Action[] {
  return [...new Map(round.map((it) => [it.container, it])).values()];
}

/** The old process is gone, its spool directory and the ledger stay. */
async function restart(made: MemoryAgent, ledger: Ledger): Promise<MemoryAgent> {
  const next = await startMemoryAgent(POOLS, { ledger, spool: made.spool });
  await drainSpool(made.spool, next.releaser, silent);
  await next[Symbol.asyncDispose]();
  return {
    ...next,
    spool: made.spool,
    spoolDirectory: made.spoolDirectory,
    [Symbol.asyncDispose]: made[Symbol.asyncDispose],
  };
}
