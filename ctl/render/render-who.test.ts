import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { renderWho } from './render-who.ts';

const nowMs = Date.parse('2026-11-16T10:05:00Z');
const nobody = { address: '10.0.0.5', records: [], pools: [], asOfMs: 1000, reservedBy: [] };

test.each([
  {
    name: 'an address outside every pool',
    answer: nobody,
    text: 'Nobody holds 10.0.0.5, and no pool contains it.\n',
  },
  {
    name: 'a free address',
    answer: { ...nobody, pools: ['v4'] },
    text: 'Nobody holds 10.0.0.5: it is free in pool v4.\n',
  },
  {
    name: 'a reserved address',
    answer: { ...nobody, pools: ['a', 'b'], asOfMs: 1000, reservedBy: ['routers'] },
    text: 'Nobody holds 10.0.0.5: it lies in pools a, b and is reserved by routers.\n',
  },
])('$name', ({ answer, text }) => {
  expect(renderWho(answer, nowMs)).toBe(text);
});

test('a held address tells where to look for its holder', () => {
  const record = buildRecord({
    gateway: '10.0.0.1',
    holder: { owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'w' } },
  });
  expect(renderWho({ ...nobody, records: [record], pools: ['v4'] }, nowMs)).toBe(
    [
      '10.0.0.5/24 is Allocated',
      '  holder     default/web (Container)',
      '  interface  eth0',
      '  network    lab',
      '  node       host-1',
      '  container  c0ffee',
      '  netns      /var/run/netns/web',
      '  owner      StatefulSet w',
      '  pool       v4',
      '  gateway    10.0.0.1',
      '  domain     default',
      '  since      2026-11-16T10:00:00Z (5m ago)',
      '',
    ].join('\n'),
  );
});

test('the same number in two domains is two paragraphs', () => {
  const records = [buildRecord(), buildRecord({ name: '10.0.0.5.blue', domain: 'blue' })];
  const text = renderWho({ ...nobody, records, pools: ['v4'] }, nowMs);
  expect(text.match(/^10\.0\.0\.5\/24 is Allocated$/gm)).toHaveLength(2);
});
