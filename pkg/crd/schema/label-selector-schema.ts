import { listOf, object, type Rule, rules, type Schema, text } from './schema.ts';

const LONGEST_KEY = 253 + 1 + 63;
/** The selector of an auto pool contains the name of its application, which may be longer than a label value. */
const LONGEST_VALUE = 253;

const expression = object(
  {
    key: text(LONGEST_KEY, { minLength: 1, description: 'The key of the label.' }),
    operator: text(16, {
      enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
      description: 'How the label is compared with the values.',
    }),
    values: listOf(text(63), { description: 'Values for In and NotIn; Exists and DoesNotExist take none.' }),
  },
  ['key', 'operator'],
  rules({
    rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
    message: 'In and NotIn need values, Exists and DoesNotExist take none',
    fieldPath: '.values',
  }),
);

/** metav1.LabelSelector. */
export function labelSelector(description: string, ...more: readonly Rule[]): Schema {
  return object(
    {
      matchExpressions: listOf(expression, { description: 'Requirements that must all be met.' }),
      matchLabels: {
        type: 'object',
        additionalProperties: text(LONGEST_VALUE),
        maxProperties: 1_000,
        description: 'Labels that must all be there with these values.',
      },
    },
    [],
    { description, 'x-kubernetes-map-type': 'atomic', ...(more.length === 0 ? {} : rules(...more)) },
  );
}
