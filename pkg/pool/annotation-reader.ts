import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';

const MOST_BYTES = 64 * 1024;
const MOST_ITEMS = 100;
const LONGEST_NAME = 253;
/** A tenant may write thousands of unknown keys. */
const MOST_SHOWN = 5;

export interface Parsed<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

/** Reads the JSON of one annotation as Go's decoder would (any case of keys, null means absent), but bounded and by type. */
export class AnnotationReader {
  readonly warnings: string[] = [];
  private readonly key: string;

  constructor(key: string) {
    this.key = key;
  }

  fault(text: string, cause?: unknown): IpamError {
    return new IpamError('bad-annotation', `annotation ${this.key}: ${text}`, { cause });
  }

  bounded(text: string): string {
    const bytes = Buffer.byteLength(text);
    if (bytes > MOST_BYTES) throw this.fault(`${bytes} bytes are too long, at most ${MOST_BYTES} are read`);
    return text;
  }

  json(text: string): unknown {
    const whole = this.bounded(text);
    try {
      return JSON.parse(whole);
    } catch (cause) {
      throw this.fault(`bad JSON: ${toOneLine(cause)}`, cause);
    }
  }

  /** The known fields under their own spelling; a Map, so that `__proto__` is a key like any other. */
  object<K extends string>(value: unknown, where: string, known: readonly K[]): ReadonlyMap<K, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.wrongType(where, 'an object', value);
    }
    const fields = new Map<K, unknown>();
    const unknown: string[] = [];
    for (const [key, field] of Object.entries(value)) {
      const name = known.find((candidate) => candidate === key.toLowerCase());
      if (name === undefined) unknown.push(unknown.length < MOST_SHOWN ? quote(key) : key);
      // Go takes the last spelling, which JSON.parse does not show.
      else if (fields.has(name)) throw this.fault(`${where} has the key ${name} in two spellings`);
      else fields.set(name, field);
    }
    if (unknown.length > 0) this.warn(`${where} has unknown keys that are ignored: ${listSome(unknown, MOST_SHOWN)}`);
    return fields;
  }

  list(value: unknown, where: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.wrongType(where, 'a list', value);
    if (value.length > MOST_ITEMS)
      throw this.fault(`${where} has ${value.length} items, at most ${MOST_ITEMS} are read`);
    return value;
  }

  names(value: unknown, where: string): readonly string[] {
    return this.list(value, where).map((name, index) => {
      const text = this.text(name, `${where}[${index}]`);
      if (text === '') throw this.fault(`${where}[${index}] is an empty name`);
      return text;
    });
  }

  text(value: unknown, where: string): string {
    if (value === undefined || value === null) return '';
    if (typeof value !== 'string') throw this.wrongType(where, 'a string', value);
    if (value.length > LONGEST_NAME) throw this.fault(`${where} is longer than ${LONGEST_NAME} characters`);
    return value;
  }

  flag(value: unknown, where: string): boolean {
    if (value === undefined || value === null) return false;
    if (typeof value !== 'boolean') throw this.wrongType(where, 'true or false', value);
    return value;
  }

  warn(text: string): void {
    this.warnings.push(`annotation ${this.key}: ${text}`);
  }

  private wrongType(where: string, wanted: string, value: unknown): IpamError {
    return this.fault(`${where} must be ${wanted}, is ${typeName(value)}`);
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** V8 quotes a bounded piece of the text, line breaks and all. */
function toOneLine(cause: unknown): string {
  return cause instanceof Error ? cause.message.replace(/\p{Cc}+/gu, ' ') : String(cause);
}
