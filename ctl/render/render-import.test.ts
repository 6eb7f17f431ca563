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
  expect(renderImport(NOTHING, 'spiderpool')).toBe(
    'No state of another address manager. Without --dry-run, agents may begin.\n',
  );
});

test('a Spiderpool that has given out nothing is not called absent', () => {
  const lines = renderImport(
    { ...NOTHING, outcome: 'refused', writers: ['kube-system/spiderpool-agent'] },
    'spiderpool',
  ).split('\n');
  expect(lines.slice(0, 2)).toEqual([
    'Not adopted. Spiderpool gave out no address without a record here.',
    'may still give out addresses: service account kube-system/spiderpool-agent',
  ]);
});

test('static-ip-operator is called by its name, and so is what to do about it', () => {
  const refused = { ...NOTHING, outcome: 'refused', writers: ['vitistack/static-ip-operator'] } as const;
  expect(renderImport(refused, 'vitistack').split('\n')).toEqual([
    'Not adopted. static-ip-operator gave out no address without a record here.',
    'may still give out addresses: service account vitistack/static-ip-operator',
    'Switch it off first (scale its Deployment to 0 and wait for its pods, or delete its ClusterRoleBinding), then import again.',
    '',
  ]);
  expect(renderImport(NOTHING, 'vitistack')).toBe(
    'No state of another address manager. Without --dry-run, the controller serves Vitistack.\n',
  );
});
