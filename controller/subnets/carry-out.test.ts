import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { AutoPoolStep } from '#controller/allot/plan-auto-pools.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { buildSituation, keyOf, wants } from '#test/support/build-situation.ts';
import { AskingApplications } from './applications.ts';
import { CarryOut, type CarryOutDeps } from './carry-out.ts';
import { newPoolObject } from './pool-object.ts';
import type { OwnerVerdict } from './pool-owners.ts';
import { PoolsNow } from './pools-now.ts';

const { subnet } = buildSituation();
const SUBNET = { metadata: { name: 'office', uid: 's-1', resourceVersion: '1' }, spec: {} };
const NOW = new Date('2026-11-18T12:00:00Z');
const set = (...ranges: string[]) => IntervalSet.of(ranges.map(parseRange));
const wanted = wants(keyOf('web'), 4);
const { application } = wanted.key;
const made = newPoolObject('w', wanted, set('10.0.0.10-10.0.0.13'), { subnet, object: SUBNET });
const POOL = { ...made, metadata: { ...made.metadata, uid: 'p-1', resourceVersion: '7' } } as KubeObject;

type Taken = Awaited<ReturnType<CarryOutDeps['ledger']['takenOf']>>;

function start(given: { verdict?: OwnerVerdict; taken?: readonly object[]; asking?: AskingApplications } = {}) {
  const writes: string[] = [];
  const versions: string[] = [];
  const ipsOf = (object: Readonly<Record<string, unknown>>) => (object['spec'] as { ips: string[] }).ips.join(' ');
  const stored = (verb: string, object: Readonly<Record<string, unknown>>) => {
    writes.push(`${verb} ${ipsOf(object)}`);
    versions.push((object['metadata'] as KubeObject['metadata']).resourceVersion);
    const metadata = { ...POOL.metadata, resourceVersion: String(7 + writes.length) };
    return Promise.resolve({ ok: true, object: { ...object, metadata } } as const);
  };
  const client = {
    create: (_: unknown, object: KubeObject) => stored('create', object),
    update: (_: unknown, object: KubeObject) => stored('update', object),
    delete: async (_: unknown, seen: object) => {
      writes.push(`delete ${JSON.stringify(seen)}`);
      return { ok: true, object: null } as const;
    },
  } as unknown as KubeClient;
  // The cache is ahead of the plan.
  const now = { ...POOL, metadata: { ...POOL.metadata, resourceVersion: '8' } };
  const view = { get: ({ name }: { name: string }) => (name === 'w' ? now : null), all: () => [now] };
  const pools = (objects: readonly KubeObject[]) => {
    const planned = { get: () => objects[0], all: () => objects, onChange: () => ({ [Symbol.dispose]() {} }) };
    return new PoolsNow(planned as unknown as ObjectView, () => NOW);
  };
  const carryOut = new CarryOut(
    {
      client,
      log: pino({ level: 'silent' }),
      now: () => NOW,
      ledger: { takenOf: async () => (given.taken ?? []) as unknown as Taken },
      pools: new PoolsNow({ ...view, onChange: () => ({ [Symbol.dispose]() {} }) } as unknown as ObjectView, () => NOW),
      applications: given.asking ?? new AskingApplications(),
      owners: { verdictOf: () => ({ verdict: given.verdict ?? 'gone', forMs: 40_000 }) },
    },
    { subnet, object: SUBNET, seen: new Map([...pools([POOL]).all()].map((it) => ['w', it])) },
    async (_, send) => {
      const outcome = await send();
      return outcome.ok ? { object: outcome.object } : { requeueMs: 1 };
    },
  );
  return { writes, versions, do: (step: AutoPoolStep) => carryOut.do(step) };
}

const change = (...ranges: string[]): AutoPoolStep => ({ do: 'change', name: 'w', wanted, addresses: set(...ranges) });
const DELETE: AutoPoolStep = { do: 'delete', name: 'w', application };

test('a pool that grows is one write', async () => {
  const started = start();
  await started.do(change('10.0.0.10-10.0.0.15'));
  expect(started.writes).toEqual(['update 10.0.0.10-10.0.0.15']);
});

test('a pool is changed as the plan saw it: the API server refuses the write if it has changed since', async () => {
  const started = start();
  await started.do(change('10.0.0.10-10.0.0.15'));
  expect(started.versions).toEqual(['7']);
});

test('a pool that shrank gets back what was given out meanwhile, and nothing else', async () => {
  const taken = [
    { value: parseRange('10.0.0.13').first, state: 'Allocated' },
    { value: parseRange('10.0.0.12').first, state: 'Cooling' },
    { value: parseRange('10.0.0.10').first, state: 'Allocated' },
  ];
  const started = start({ taken });
  await started.do(change('10.0.0.10-10.0.0.11'));
  expect(started.writes).toEqual(['update 10.0.0.10-10.0.0.11', 'update 10.0.0.10-10.0.0.11 10.0.0.13']);
});

test('a pool that is gone is not changed', async () => {
  const started = start();
  await started.do({ ...DELETE, name: 'other' });
  expect(started.writes).toEqual([]);
});

const GONE = ['delete {"name":"w","uid":"p-1","resourceVersion":"7"}'];
test.each<{ verdict: OwnerVerdict; writes: string[] }>([
  { verdict: 'gone', writes: GONE },
  { verdict: 'silent', writes: GONE },
  { verdict: 'asking', writes: [] },
  { verdict: 'unknown', writes: [] },
])('a pool that is to go, whose application is $verdict', async ({ verdict, writes }) => {
  const started = start({ verdict });
  expect(await started.do(DELETE)).toBe(writes.length === 0 ? 40_000 : undefined);
  expect(started.writes).toEqual(writes);
});

test('an application that the watch knows need not be read', async () => {
  const asking = new AskingApplications();
  asking.put({ application, wanted: [], fault: null, subnets: new Set() });
  const started = start({ asking, verdict: 'unknown' });
  await started.do(DELETE);
  expect(started.writes).toEqual(GONE);
});
