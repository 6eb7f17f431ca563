import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { addArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { conflictEvents, failedAddEvent, outlivingEvents, podBehind } from './agent-events.ts';

const POD = { podNamespace: 'prod', podName: 'web-0', podUID: 'uid-1' };
const REGARDING = { apiVersion: 'v1', kind: 'Pod', namespace: 'prod', name: 'web-0', uid: 'uid-1' };

test('a failed ADD emits an Event on the pod; a successful one emits none', async () => {
  const told: EmittedEvent[] = [];
  const pool = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });
  await using made = await startMemoryAgent([pool], { events: { emit: (event) => void told.push(event) } });
  await made.agent.add(addArgs('c1'), newCall());
  expect(told).toEqual([]);
  await expect(made.agent.add(addArgs('c2', POD), newCall())).rejects.toThrow('v4 1/1 used');
  expect(told).toEqual([
    {
      regarding: REGARDING,
      type: 'Warning',
      reason: 'IPPoolExhausted',
      note: expect.stringContaining('v4 1/1 used') as string,
      sameAs: expect.any(String) as string,
    },
  ]);
});

test.each([
  {
    name: 'an annotation',
    error: new IpamError('bad-annotation', 'annotation ipam.spidernet.io/ippool: not JSON'),
    reason: 'InvalidIPAMAnnotation',
  },
  { name: 'a body', error: new IpamError('bad-input', 'containerID is missing'), reason: undefined },
  { name: 'no pool', error: new IpamError('no-eligible-pool', 'none'), reason: 'NoEligibleIPPool' },
  { name: 'our own fault', error: new IpamError('internal', 'oops'), reason: undefined },
  { name: 'a busy agent', error: new IpamError('agent-busy', 'later'), reason: undefined },
])('the reason for $name', ({ error, reason }) => {
  expect(failedAddEvent(addArgs('c1', POD), error)?.reason).toBe(reason);
});

test.each<{ name: string; reason: Reason; words: [string, string]; isSame: boolean }>([
  {
    name: 'a full pool',
    reason: 'pools-exhausted',
    words: ['after waiting 10 s: v4 9/9 used', 'after waiting 9 s: v4 9/9 used (1 in cooldown)'],
    isSame: false,
  },
  {
    name: 'other numbers',
    reason: 'pools-exhausted',
    words: ['after waiting 10 s', 'after waiting 9 s'],
    isSame: true,
  },
  {
    name: 'no pool yet',
    reason: 'auto-pool-missing',
    words: ['required 5, left 3', 'required 5, left 2'],
    isSame: true,
  },
  { name: 'another address', reason: 'address-held', words: ['10.0.0.1 is held', '10.0.0.2 is held'], isSame: false },
])('the same Event or another: $name', ({ reason, words, isSame }) => {
  const [first, second] = words.map((text) => failedAddEvent(addArgs('c1', POD), new IpamError(reason, text)));
  const whatCounts = (event: EmittedEvent | null | undefined) => event?.sameAs ?? event?.note;
  expect(whatCounts(first) === whatCounts(second)).toBe(isSame);
});

test('without a pod there is no Event', () => {
  expect(failedAddEvent(addArgs('c1'), new IpamError('pools-exhausted', 'full'))).toBeNull();
});

test('details follow the message', () => {
  const error = new IpamError('no-eligible-pool', 'no pool', { details: 'a: it is disabled' });
  expect(failedAddEvent(addArgs('c1', POD), error)?.note).toBe('no pool\na: it is disabled');
});

test('a conflict emits an Event on the pod and on the pool', () => {
  const events = conflictEvents(POD, { name: 'v4', uid: 'p-1' }, { address: '10.0.0.9', mac: '02:00:00:00:00:01' });
  expect(events.map(({ regarding }) => regarding)).toEqual([
    REGARDING,
    { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderIPPool', namespace: '', name: 'v4', uid: 'p-1' },
  ]);
  expect(events[0]).toMatchObject({
    type: 'Warning',
    note: '10.0.0.9 of pool v4 is used by a foreign host with MAC 02:00:00:00:00:01',
  });
});

test('a sandbox that outlives its pod is told to the pod and to the record, with what to do', () => {
  const events = outlivingEvents(buildRecord({ address: '10.0.0.9', uid: 'r-1' }), POD);
  expect(events.map(({ regarding }) => regarding)).toEqual([
    REGARDING,
    { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', namespace: '', name: '10.0.0.9', uid: 'r-1' },
  ]);
  for (const { type, reason, note } of events) {
    expect([type, reason]).toEqual(['Warning', 'SandboxOutlivesPod']);
    expect(note).toContain('10.0.0.9 is held by a sandbox whose pod is gone');
    expect(note).toContain('crictl rmp c0ffee');
  }
});

test.each([
  {
    name: 'a machine is told by the pod that runs it',
    known: { name: 'virt-launcher-vm-x' },
    podName: 'virt-launcher-vm-x',
  },
  { name: 'a pod that is not known is told by the name of the holder', known: null, podName: 'vm' },
])('$name', ({ known, podName }) => {
  const pods = { known: (uid: string) => (uid === 'u-1' ? known : null) };
  const told = podBehind({ namespace: 'prod', name: 'vm', uid: 'u-1' }, pods);
  expect(told).toEqual({ podNamespace: 'prod', podName, podUID: 'u-1' });
});
