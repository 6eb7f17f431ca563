import { integer, listOf, object, type Schema, text } from './schema.ts';

/** A projection counts with 64 bits and saturates. */
export const COUNT: Schema = { type: 'integer', format: 'int64', minimum: 0 };

/** metav1.Condition. */
const condition = object(
  {
    type: text(316, { minLength: 1 }),
    status: text(16, { enum: ['True', 'False', 'Unknown'] }),
    reason: text(1_024, { minLength: 1 }),
    message: text(32_768),
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: COUNT,
  },
  ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
);

export const CONDITIONS: Schema = listOf(condition, {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
});

export const VLAN: Schema = integer(0, 4_094, { format: 'int64', description: 'Deprecated by Spiderpool.' });
