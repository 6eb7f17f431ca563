import { expect, test } from 'vitest';
import { formatSelector, type LabelSelector, selects } from './label-selector.ts';

type Operator = LabelSelector['matchExpressions'][number]['operator'];

const labels = { app: 'web', tier: 'front' };

test.each([
  { name: 'an empty selector selects everything', selector: byLabels({}), expected: true },
  { name: 'an equal label', selector: byLabels({ app: 'web' }), expected: true },
  { name: 'all labels must be equal', selector: byLabels({ app: 'web', tier: 'back' }), expected: false },
  { name: 'a missing label is not equal', selector: byLabels({ zone: 'a' }), expected: false },
  { name: 'a missing label is not equal to the empty value', selector: byLabels({ zone: '' }), expected: false },
  { name: 'In with the value', selector: byOperator('app', 'In', 'db', 'web'), expected: true },
  { name: 'In without the value', selector: byOperator('app', 'In', 'db'), expected: false },
  { name: 'In without the label', selector: byOperator('zone', 'In', 'a'), expected: false },
  { name: 'NotIn with the value', selector: byOperator('app', 'NotIn', 'db', 'web'), expected: false },
  { name: 'NotIn without the value', selector: byOperator('app', 'NotIn', 'db'), expected: true },
  { name: 'NotIn without the label', selector: byOperator('zone', 'NotIn', 'a'), expected: true },
  { name: 'Exists with the label', selector: byOperator('app', 'Exists'), expected: true },
  { name: 'Exists without the label', selector: byOperator('zone', 'Exists'), expected: false },
  { name: 'DoesNotExist with the label', selector: byOperator('app', 'DoesNotExist'), expected: false },
  { name: 'DoesNotExist without the label', selector: byOperator('zone', 'DoesNotExist'), expected: true },
  { name: 'a name of Object.prototype is no label', selector: byOperator('constructor', 'Exists'), expected: false },
  {
    name: 'labels and expressions must both hold',
    selector: { ...byOperator('zone', 'Exists'), matchLabels: { app: 'web' } },
    expected: false,
  },
])('$name', ({ selector, expected }) => {
  expect(selects(selector, labels)).toBe(expected);
});

test('a selector is written as kubectl writes it', () => {
  const selector: LabelSelector = {
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'zone', operator: 'NotIn', values: ['x'] },
      { key: 'gpu', operator: 'Exists', values: [] },
      { key: 'legacy', operator: 'DoesNotExist', values: [] },
    ],
  };
  expect(formatSelector(selector)).toBe('app=web, tier in (a, b), zone notin (x), gpu, !legacy');
});

function byLabels(matchLabels: Record<string, string>): LabelSelector {
  return { matchLabels, matchExpressions: [] };
}

function byOperator(key: string, operator: Operator, ...values: string[]): LabelSelector {
  return { matchLabels: {}, matchExpressions: [{ key, operator, values }] };
}
