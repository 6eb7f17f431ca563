import { expect, test, vi } from 'vitest';
import { failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { toWriteError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';
import { ClaimWorld } from '#test/support/claim-world.ts';

const PATIENCE = { timeout: 30_000, interval: 5 };
const refused = (because: 'Forbidden' | 'Invalid' | 'ServerError', message: string) => failure(because, message);

test.each([
  {
    name: 'a quota refuses the IPAddress',
    call: 'create ipaddresses vm-0',
    answer: () => refused('Forbidden', 'exceeded quota: machines, used: ipaddresses=5, limited: ipaddresses=5'),
    says: 'exceeded quota: machines',
  },
  {
    name: 'an admission policy refuses the IPAddress',
    call: 'create ipaddresses vm-0',
    answer: () => refused('Invalid', 'ValidatingAdmissionPolicy denied request'),
    says: 'ValidatingAdmissionPolicy denied request',
  },
  {
    name: 'the webhook for IPAddresses is away',
    call: 'create ipaddresses vm-0',
    answer: (tries: number) => refused('ServerError', `failed calling webhook: timed out after ${tries} ms`),
    says: 'failed calling webhook',
  },
  {
    name: 'the role for records is missing',
    call: 'create iprecords 10.0.0.5',
    answer: () =>
      toWriteError('create', '10.0.0.5', { ...refused('Forbidden', 'iprecords is forbidden'), mayStillLand: false }),
    says: 'iprecords is forbidden',
  },
  {
    name: 'an admission policy refuses the record',
    call: 'create iprecords 10.0.0.5',
    answer: () =>
      toWriteError('create', '10.0.0.5', { ...refused('Invalid', 'denied: no records today'), mayStillLand: false }),
    says: 'no records today',
  },
])('$name: the claim says so, once, and is served when that is over', async ({ call, answer, says }) => {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5-10.0.0.9']);
  await using _leader = world.lead();
  world.before = (it) => (it === call ? answer(world.countOf(call)) : undefined);
  world.claim('vm-0');
  await vi.waitFor(() => expect(world.condition('vm-0')).toContain('False/AllocationFailed'), PATIENCE);
  expect(world.condition('vm-0')).toContain(says);
  await vi.waitFor(() => expect(world.countOf(call)).toBeGreaterThanOrEqual(4), PATIENCE);
  // The finalizer and the status.
  expect(world.countOf('patch ipaddressclaims vm-0')).toBe(2);
  expect(world.told.map(({ reason }) => reason)).toEqual(['AllocationFailed']);
  world.before = () => undefined;
  await vi.waitFor(() => expect(world.condition('vm-0')).toBe('True/Ready: 10.0.0.5 of pool lab'), PATIENCE);
});

test('a claim that waits for a pool of many says how many there are, also when the pool has grown', async () => {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.1-10.0.0.5']);
  await using _leader = world.lead();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const name of names) world.claim(name);
  await vi.waitFor(() => expect(world.condition('g')).toContain('5/5 addresses are in use'), PATIENCE);
  world.objects.patch(POOLS, { name: 'lab' }, { spec: { ips: ['10.0.0.1-10.0.0.6'] }, metadata: { generation: 2 } });
  await vi.waitFor(() => expect(world.condition('g')).toContain('6/6 addresses are in use'), PATIENCE);
});
