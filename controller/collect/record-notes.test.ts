import { expect, test } from 'vitest';
import { buildPod, buildPodRecord } from '#test/support/build-evidence.ts';
import { RecordNotes } from './record-notes.ts';

const RECORD = buildPodRecord();
const NOTHING = {
  goneSinceMs: null,
  finishedSinceMs: null,
  idleSinceMs: null,
  ownerAbsentSinceMs: null,
  notServedSinceMs: null,
  graceMs: null,
};

test('a living pod leaves nothing to note', () => {
  expect(new RecordNotes().take(RECORD, [buildPod()], 'read', 5)).toEqual(NOTHING);
});

test('a pod is gone since it was first missed, until it is seen again', () => {
  const notes = new RecordNotes();
  expect(notes.take(RECORD, [], 'read', 10).goneSinceMs).toBe(10);
  expect(notes.take(RECORD, [], 'read', 20).goneSinceMs).toBe(10);
  expect(notes.take(RECORD, [buildPod()], 'read', 30).goneSinceMs).toBeNull();
  expect(notes.take(RECORD, [], 'read', 40).goneSinceMs).toBe(40);
});

test('a watch that does not have a pod begins nothing: only a read does, and a watch goes on with it', () => {
  const notes = new RecordNotes();
  expect(notes.take(RECORD, [], 'watch', 10).goneSinceMs).toBeNull();
  expect(notes.take(RECORD, [], 'read', 20).goneSinceMs).toBe(20);
  expect(notes.take(RECORD, [], 'watch', 30).goneSinceMs).toBe(20);
  expect(notes.take(RECORD, [buildPod()], 'watch', 40).goneSinceMs).toBeNull();
  expect(notes.take(RECORD, [], 'watch', 50).goneSinceMs).toBeNull();
});

test('a pod of the same name with another uid is not the one that is missed, and idles once it runs', () => {
  const notes = new RecordNotes();
  const other = buildPod({ uid: 'pod-2', phase: 'Pending' });
  expect(notes.take(RECORD, [other], 'read', 10)).toMatchObject({ goneSinceMs: 10, idleSinceMs: null });
  expect(notes.take(RECORD, [{ ...other, phase: 'Running' }], 'read', 20)).toMatchObject({
    goneSinceMs: 10,
    idleSinceMs: 20,
  });
  expect(notes.take(RECORD, [{ ...other, phase: 'Running' }], 'read', 30).idleSinceMs).toBe(20);
  expect(notes.take(RECORD, [], 'read', 40).idleSinceMs).toBeNull();
});

test('a pod has finished since it was first seen so', () => {
  const notes = new RecordNotes();
  notes.take(RECORD, [buildPod({ phase: 'Failed' })], 'read', 10);
  expect(notes.take(RECORD, [buildPod({ phase: 'Failed' })], 'read', 20).finishedSinceMs).toBe(10);
});

test.each([
  { name: 'a longer grace than the usual one', pod: { graceSeconds: 600 }, graceMs: 600_000 },
  { name: 'the usual grace', pod: { graceSeconds: 30 }, graceMs: null },
  {
    name: 'a longer grace, ended before its object went',
    pod: { graceSeconds: 600, deletesAtMs: 1, haveAllEnded: true },
    graceMs: null,
  },
  {
    name: 'a longer grace, between two restarts of its containers',
    pod: { graceSeconds: 600, haveAllEnded: true },
    graceMs: 600_000,
  },
])('of a pod with $name $graceMs ms of grace are remembered after it is gone', ({ pod, graceMs }) => {
  const notes = new RecordNotes();
  notes.take(RECORD, [buildPod(pod)], 'read', 10);
  expect(notes.take(RECORD, [], 'read', 20)).toMatchObject({ graceMs, goneSinceMs: 20 });
  expect(notes.take(RECORD, [], 'read', 30)).toMatchObject({ graceMs, goneSinceMs: 20 });
});

test('an owner is absent since it was first read so, without a break', () => {
  const notes = new RecordNotes();
  expect(notes.noteOwner(RECORD, 'invalid', 10)).toEqual({ ownerAbsentSinceMs: 10, notServedSinceMs: null });
  expect(notes.noteOwner(RECORD, 'invalid', 20).ownerAbsentSinceMs).toBe(10);
  expect(notes.take(RECORD, [], 'read', 25).ownerAbsentSinceMs).toBe(10);
  expect(notes.noteOwner(RECORD, 'valid', 30).ownerAbsentSinceMs).toBeNull();
  expect(notes.noteOwner(RECORD, 'invalid', 40).ownerAbsentSinceMs).toBe(40);
});

test('a kind is not served since it was first read so; served again without the owner, that is another time', () => {
  const notes = new RecordNotes();
  notes.noteOwner(RECORD, 'not-served', 10);
  expect(notes.take(RECORD, [], 'read', 20).notServedSinceMs).toBe(10);
  expect(notes.noteOwner(RECORD, 'not-served', 30)).toEqual({ ownerAbsentSinceMs: null, notServedSinceMs: 10 });
  expect(notes.noteOwner(RECORD, 'invalid', 40)).toEqual({ ownerAbsentSinceMs: 40, notServedSinceMs: null });
});

test.each([
  { name: 'another record of the same address', next: { ...RECORD, uid: 'another' } },
  { name: 'another holder', next: buildPodRecord({ uid: 'pod-9' }) },
])('$name starts anew', ({ next }) => {
  const notes = new RecordNotes();
  notes.take(RECORD, [], 'read', 10);
  expect(notes.take(next, [], 'read', 20).goneSinceMs).toBe(20);
});

test('what is forgotten starts anew', () => {
  const notes = new RecordNotes();
  notes.take(RECORD, [], 'read', 10);
  notes.forget(RECORD.name);
  expect(notes.take(RECORD, [], 'read', 20).goneSinceMs).toBe(20);
});
