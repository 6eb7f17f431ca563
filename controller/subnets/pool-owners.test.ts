import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import type { Controller } from '#pkg/pool/request.ts';
import type { ApplicationChange } from './applications.ts';
import { type OwnerVerdict, PoolOwners } from './pool-owners.ts';
import type { ApplicationReading } from './read-application.ts';

const APPLICATION = { apiVersion: 'games.test/v1', kind: 'Game', namespace: 'prod', name: 'chess', uid: 'u-1' };
const ASKS = { 'ipam.spidernet.io/subnet': '{"ipv4":["office"]}' };
const there = (spec: object) => ({ is: 'there', object: { metadata: {}, spec } }) as unknown as ApplicationReading;
const UNKNOWN: ApplicationReading = { is: 'unknown', because: 'the API server serves no Game' };

function start(read: (application: Controller) => Promise<ApplicationReading>) {
  let nowMs = 1_000;
  const changes = new Listeners<ApplicationChange>();
  const asking: string[] = [];
  const told: string[] = [];
  const lines: string[] = [];
  const reader = { read: vi.fn(read) };
  const owners = new PoolOwners({
    client: { timing: { ...SYSTEM_TIMING, nowMs: () => nowMs } } as KubeClient,
    log: pino({}, { write: (line) => void lines.push(line) }),
    isLeader: () => true,
    now: () => new Date(),
    reader,
    applications: { onChange: changes.add.bind(changes) },
    onAsking: ({ name }) => void asking.push(name),
  });
  owners.onChange(({ name }) => void told.push(name));
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return {
    owners,
    reader,
    changes,
    asking,
    told,
    lines,
    pass,
    [Symbol.asyncDispose]: () => owners[Symbol.asyncDispose](),
  };
}

test.each<{ name: string; reading: ApplicationReading; verdict: OwnerVerdict; told: string[]; asking: string[] }>([
  { name: 'is gone', reading: { is: 'gone' }, verdict: 'gone', told: ['chess'], asking: [] },
  { name: 'asks no more', reading: there({ template: {} }), verdict: 'silent', told: ['chess'], asking: [] },
  {
    name: 'asks',
    reading: there({ template: { metadata: { annotations: ASKS } } }),
    verdict: 'asking',
    told: [],
    asking: ['chess'],
  },
  { name: 'has no template that could tell', reading: there({}), verdict: 'asking', told: [], asking: ['chess'] },
])('the application of a pool $name', async ({ reading, verdict, told, asking }) => {
  await using started = start(async () => reading);
  expect(started.owners.verdictOf(APPLICATION)).toEqual({ verdict: 'unknown', forMs: 60_000 });
  await vi.waitFor(() => expect(started.owners.verdictOf(APPLICATION).verdict).toBe(verdict), 20_000);
  expect([started.told, started.asking]).toEqual([told, asking]);
});

test('an application that cannot be read is read once a minute, however often it is asked for, and logged once', async () => {
  await using started = start(async () => UNKNOWN);
  started.owners.verdictOf(APPLICATION);
  await vi.waitFor(() => expect(started.lines).toHaveLength(1), 20_000);
  for (let at = 0; at < 10; at += 1) expect(started.owners.verdictOf(APPLICATION).verdict).toBe('unknown');
  started.pass(20_000);
  expect(started.owners.verdictOf(APPLICATION)).toEqual({ verdict: 'unknown', forMs: 40_000 });
  expect(started.reader.read).toHaveBeenCalledTimes(1);
  started.pass(40_000);
  started.owners.verdictOf(APPLICATION);
  await vi.waitFor(() => expect(started.reader.read).toHaveBeenCalledTimes(2), 20_000);
  await vi.waitFor(() => expect(started.owners.verdictOf(APPLICATION).forMs).toBe(60_000), 20_000);
  expect(started.lines).toHaveLength(1);
});

test('an application that does not answer holds up no other', async () => {
  const late = Promise.withResolvers<ApplicationReading>();
  await using started = start(({ name }) => (name === 'chess' ? late.promise : Promise.resolve({ is: 'gone' })));
  started.owners.verdictOf(APPLICATION);
  await vi.waitFor(() => expect(started.reader.read).toHaveBeenCalled(), 20_000);
  started.owners.verdictOf({ ...APPLICATION, name: 'go', uid: 'u-2' });
  await vi.waitFor(() => expect(started.told).toEqual(['go']), 20_000);
  late.resolve(UNKNOWN);
});

test('an application that was put into the table, or taken from it, since it was read is read again', async () => {
  await using started = start(async () => there({}));
  started.owners.verdictOf(APPLICATION);
  await vi.waitFor(() => expect(started.owners.verdictOf(APPLICATION).verdict).toBe('asking'), 20_000);
  started.reader.read.mockImplementation(async () => ({ is: 'gone' }));
  started.changes.tell({ application: APPLICATION, subnets: [] });
  started.owners.verdictOf(APPLICATION);
  await vi.waitFor(() => expect(started.told).toEqual(['chess']), 20_000);
});
