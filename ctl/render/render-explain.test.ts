import { expect, test } from 'vitest';
import type { ExplainedPool } from '#pkg/agentapi/admin.ts';
import { renderExplain } from './render-explain.ts';

const pool: ExplainedPool = { name: 'a', family: 4, place: 1, objection: null, used: '1', total: '4' };

test('the pools of a family come in the order of trial, the refused ones last', () => {
  const pools: ExplainedPool[] = [
    { ...pool, name: 'other-node', place: null, objection: 'serves only the nodes n1, n2' },
    { ...pool, name: 'second', place: 2 },
    { ...pool, name: 'v6', family: 6, total: '18446744073709551616' },
    { ...pool, name: 'first' },
  ];
  expect(renderExplain({ source: 'CNI configuration', pools })).toBe(
    [
      'Candidates come from: CNI configuration',
      'PLACE  POOL        FAMILY  USED/TOTAL  OBJECTION',
      '1      first       IPv4    1/4         -',
      '2      second      IPv4    1/4         -',
      '-      other-node  IPv4    1/4         serves only the nodes n1, n2',
      '1      v6          IPv6    1/2^64      -',
      '',
    ].join('\n'),
  );
});

test('no candidate at all is said in words', () => {
  expect(renderExplain({ source: 'default pools', pools: [] })).toBe(
    'Candidates come from: default pools\nThere are none.\n',
  );
});

test('what is held already, and the refusal', () => {
  const held = [{ address: '10.0.0.5', interface: 'net1', pool: 'v4', state: 'Retained' }];
  const refusal = { reason: 'pools-exhausted', message: 'no free IPv6 address' };
  const text = renderExplain({ source: 'default pools', pools: [], held, refusal, note: 'It may differ.' });
  expect(text).toBe(
    'Candidates come from: default pools\nThere are none.\nHolds already: 10.0.0.5 of pool v4 on net1 (Retained)\n' +
      'An ADD would be refused: no free IPv6 address (pools-exhausted)\nIt may differ.\n',
  );
});
