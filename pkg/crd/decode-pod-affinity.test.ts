import { describe, expect, test } from 'vitest';
import { decodeApplicationAffinity, decodePodAffinity } from './decode-pod-affinity.ts';

const application = (name: string) => ({
  matchLabels: { 'ipam.spidernet.io/app-name': name, 'ipam.spidernet.io/app-api-group': '' },
});

test('an empty selector would admit nobody knows whom', () => {
  expect(() => decodePodAffinity({})).toThrow('spec.podAffinity: must not be empty; leave it out to admit every pod');
});

test('an ordinary pool selects by labels, so values are values of labels', () => {
  expect(decodePodAffinity({ matchLabels: { app: 'web' } }).matchLabels).toEqual({ app: 'web' });
  expect(() => decodePodAffinity(application('a'.repeat(64)))).toThrow('is longer than 63 characters');
});

describe('an auto pool', () => {
  test('names its application, at any length a name can have', () => {
    const value = application('a'.repeat(253));
    expect(decodeApplicationAffinity(value).matchLabels).toEqual(value.matchLabels);
    expect(() => decodeApplicationAffinity(application('a'.repeat(254)))).toThrow('is longer than 253 characters');
  });

  test.each([
    [
      'other labels',
      { matchLabels: { app: 'web' } },
      'spec.podAffinity.matchLabels: app is not allowed in an auto pool',
    ],
    [
      'expressions',
      { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
      'spec.podAffinity.matchExpressions: not allowed in an auto pool',
    ],
    ['nothing', {}, 'spec.podAffinity: must not be empty: the pool was made for one application'],
  ])('cannot select by %s', (_, value, message) => {
    expect(() => decodeApplicationAffinity(value)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
  });
});
