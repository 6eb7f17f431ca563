/** The forms that the fields of Vitistack's kinds have. */
export const TEXT = { type: 'string' };
export const FLAG = { type: 'boolean' };
export const WHOLE = { type: 'integer' };
export const TIME = { type: 'string', format: 'date-time' };
export const TEXTS = { type: 'array', items: TEXT };
export const IDENTIFIER = { type: 'string', minLength: 2, maxLength: 32, pattern: '^[A-Za-z0-9_-]+$' };

export function fields(properties: object, required: readonly string[] = []): object {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
}

export function listOf(items: object): object {
  return { type: 'array', items };
}

/** `phase` and `status` are free text in all of them. */
export const COMMON_STATUS = {
  phase: TEXT,
  status: TEXT,
  message: TEXT,
  created: TIME,
  conditions: listOf(
    fields(
      {
        type: { type: 'string', maxLength: 316 },
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        reason: { type: 'string', minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' },
        message: { type: 'string', maxLength: 32_768 },
        lastTransitionTime: TIME,
        observedGeneration: { type: 'integer', minimum: 0 },
      },
      ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    ),
  ),
};
