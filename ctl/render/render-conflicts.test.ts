import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { renderConflicts } from './render-conflicts.ts';

const NOW_MS = Date.parse('2026-11-16T10:05:00Z');

test('who squats where, and until when the address is left alone', () => {
  const record = buildRecord({ address: '10.0.0.5' });
  const holder = { ...record.spec.holder, kind: 'Conflict' as const, name: '02:00:00:00:00:99' };
  const spec = { ...record.spec, state: 'Quarantined' as const, until: '2026-11-16T10:15:00Z', holder };
  const text = renderConflicts([{ ...record, spec }], NOW_MS);
  const [header = '', row = ''] = text.split('\n');
  expect(header).toMatch(/^ADDRESS +POOL +USED BY +SEEN ON +NODE +SINCE +TRIED AGAIN AT/);
  expect(row).toMatch(/^10\.0\.0\.5 .*02:00:00:00:00:99 .*2026-11-16T10:15:00Z/);
  expect(text).toContain('ipledgerctl release ADDRESS (in a cluster with --kubeconfig)');
});

test('nothing to show', () => {
  expect(renderConflicts([], NOW_MS)).toBe('No conflicts.\n');
});
