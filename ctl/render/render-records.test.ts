import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { renderRecords } from './render-records.ts';

const nowMs = Date.parse('2026-11-16T10:05:00Z');

test('records are one table', () => {
  const records = [
    buildRecord({ address: '10.0.0.5' }),
    buildRecord({
      address: '10.0.0.60',
      state: 'Cooling',
      until: '2026-11-16T10:09:30Z',
      holder: { name: 'old', node: '' },
    }),
  ];
  expect(renderRecords(records, nowMs)).toBe(
    [
      'ADDRESS    POOL  STATE        HOLDER       INTERFACE  NODE    AGE',
      '10.0.0.5   v4    Allocated    default/web  eth0       host-1  5m',
      '10.0.0.60  v4    Cooling(4m)  default/old  eth0       -       5m',
      '',
    ].join('\n'),
  );
});

test('a second domain shows itself', () => {
  const text = renderRecords([buildRecord(), buildRecord({ name: '10.0.0.5.blue', domain: 'blue' })], nowMs);
  expect(text.split('\n').map((line) => line.split(/ +/).at(-1))).toEqual(['DOMAIN', 'default', 'blue', '']);
});

test('an empty ledger is said in words', () => {
  expect(renderRecords([], nowMs)).toBe('No records.\n');
});
