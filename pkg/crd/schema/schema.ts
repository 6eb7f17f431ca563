/** A rule in CEL, which the API server checks. `fieldPath` is where it shows the fault, relative to the schema that has the rule. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** Shown instead of `message` where it can be computed. */
  readonly messageExpression?: string;
  readonly fieldPath?: string;
}

/** The part of a structural schema (OpenAPI v3) that our kinds use. */
export interface Schema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description?: string;
  readonly format?: 'int64' | 'int32' | 'date-time';
  readonly default?: boolean | number;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic';
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

type More = Partial<Schema>;

/** The limit of the decoders. Without a limit the API server refuses rules on list items, because it adds up their possible cost. */
const MOST_ITEMS = 1_000;
const LONGEST_NAME = 253;

export function text(maxLength: number, more: More = {}): Schema {
  return { type: 'string', maxLength, ...more };
}

export function name(more: More = {}): Schema {
  return text(LONGEST_NAME, { minLength: 1, ...more });
}

export function integer(minimum: number, maximum: number, more: More = {}): Schema {
  return { type: 'integer', minimum, maximum, ...more };
}

/** A list is replaced as a whole by server-side apply, unless `more` names its keys. */
export function listOf(items: Schema, more: More = {}): Schema {
  return { type: 'array', items, maxItems: MOST_ITEMS, 'x-kubernetes-list-type': 'atomic', ...more };
}

export function object(properties: Record<string, Schema>, required: readonly string[], more: More = {}): Schema {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...more };
}

export function rules(...list: readonly Rule[]): More {
  return { 'x-kubernetes-validations': list };
}
