import { expect, test } from 'vitest';
import type { Adoption } from '#pkg/adopt/adopt.ts';
import { renderImport } from './render-import.ts';

const NOTHING: Adoption = {
  outcome: 'ready',
  marker: null,
  records: [],
  collisions: [],
  unreadable: [],
  writers: [],
};

test('a dry run in a fresh cluster', () => {
  expect(renderImport(NOTHING)).toBe('No state of another address manager. Without --dry-run, agents may begin.\n');
});

test('a Spiderpool that has given out nothing is not called absent', () => {
  const lines = renderImport({ ...NOTHING, outcome: 'refused', writers: ['kube-system/spiderpool-agent'] }).split('\n');
  expect(lines.slice(0, 2)).toEqual([
    'Not adopted. Spiderpool gave out no address without a record here.',
    'may still give out addresses: service account kube-system/spiderpool-agent',
  ]);
});
