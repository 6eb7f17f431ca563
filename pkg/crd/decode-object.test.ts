import { expect, test } from 'vitest';
import { decodeObject } from './decode-object.ts';

const OBJECT = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'Kind', metadata: { name: 'a' }, spec: { x: 1 } };
const named = (metadata: object) => ({ ...OBJECT, metadata: { name: 'a', ...metadata } });

test('an object from a file has no uid and is not leaving', () => {
  const { metadata, spec } = decodeObject(OBJECT, 'Kind');
  expect(metadata).toMatchObject({ name: 'a', uid: '', isTerminating: false });
  expect(spec['x']).toBe(1);
});

test('status and foreign metadata are not looked at', () => {
  const value = { ...named({ uid: 'u', deletionTimestamp: '2026-11-16T10:00:00Z', managedFields: 7 }), status: 'odd' };
  expect(decodeObject(value, 'Kind').metadata).toMatchObject({ uid: 'u', isTerminating: true });
});

test.each<[name: string, value: unknown, message: string]>([
  ['no object', 'pool', 'Kind: expected an object, found "pool"'],
  [
    'another version',
    { ...OBJECT, apiVersion: 'v1' },
    'apiVersion: expected spiderpool.spidernet.io/v2beta1, found "v1"',
  ],
  ['another kind', { ...OBJECT, kind: 'Other' }, 'kind: expected Kind, found "Other"'],
  ['a field outside of spec', { ...OBJECT, ips: [] }, 'Kind.ips: unknown field'],
  ['no metadata', { ...OBJECT, metadata: null }, 'metadata: expected an object, found nothing'],
  ['no spec', { ...OBJECT, spec: undefined }, 'spec: expected an object, found nothing'],
  ['no name', named({ name: undefined }), 'metadata.name: expected a string, found nothing'],
  [
    'a bad name',
    named({ name: 'A b' }),
    'metadata.name: "A b" is not a DNS name: lower case letters, digits, inner hyphens and dots',
  ],
  ['a uid that is no text', named({ uid: 5 }), 'metadata.uid: expected a string, found 5'],
  ['labels in a list', named({ labels: [] }), 'metadata.labels: expected an object, found a list'],
  ['annotations as text', named({ annotations: 'a' }), 'metadata.annotations: expected an object, found "a"'],
  [
    'a time that is no text',
    named({ deletionTimestamp: true }),
    'metadata.deletionTimestamp: expected a string, found true',
  ],
])('%s is refused', (_, value, message) => {
  expect(() => decodeObject(value, 'Kind')).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
});
