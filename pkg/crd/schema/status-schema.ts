import { integer, listOf, object, type Schema, text } from './schema.ts';

/** A projection counts with 64 bits and saturates. */
export const countOf = (description: string): Schema => ({ type: 'integer', format: 'int64', minimum: 0, description });

/** metav1.Condition. */
const condition = object(
  {
    type: text(316, { minLength: 1, description: 'What the condition is about, e.g. Ready.' }),
    status: text(16, { enum: ['True', 'False', 'Unknown'], description: 'Whether the condition is met.' }),
    reason: text(1_024, { minLength: 1, description: 'The reason in one word.' }),
    message: text(32_768, { description: 'The reason in a sentence for people.' }),
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When the status changed last.' },
    observedGeneration: countOf('The generation of the object that the condition was computed for.'),
  },
  ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
);

export const CONDITIONS: Schema = listOf(condition, {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  description: 'The state of the object as conditions.',
});

export const VLAN: Schema = integer(0, 4_094, { format: 'int64', description: 'Deprecated by Spiderpool.' });
