import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { renderInUse } from './render-in-use.ts';

const nowMs = Date.parse('2026-11-16T10:05:00Z');

test('nothing in use is said in one line', () => {
  expect(renderInUse([], nowMs)).toBe('No address is in use.\n');
});

test('who has addresses, how many there are, and what to do', () => {
  const records = Array.from({ length: 23 }, (_, at) => buildRecord({ address: `10.0.0.${at + 1}` }));
  const text = renderInUse(records, nowMs);
  expect(text.match(/^10\.0\.0\.\d+ .*default\/web/gm)?.length).toBe(20);
  expect(text).toContain(
    '… and 3 more\n\n23 addresses are in use. Without ipledger these addresses are not given back',
  );
});
