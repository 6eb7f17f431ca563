import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import { isJsonObject, type JsonObject } from './json-bounds.ts';
import { isPlainText } from './text-bounds.ts';

/**
 * Reads one JSON object of foreign origin. Whatever has the wrong type or is too large is an IpamError of `reason` that
 * names the field. `null` counts as absent, as Go writes it for an empty list.
 */
export class JsonFields {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #reason: Reason;

  constructor(object: JsonObject, path: string, reason: Reason) {
    this.#object = object;
    this.#path = path;
    this.#reason = reason;
  }

  static of(value: unknown, what: string, reason: Reason): JsonFields {
    if (!isJsonObject(value)) throw new IpamError(reason, `${what} must be an object`);
    return new JsonFields(value, '', reason);
  }

  keys(): string[] {
    return Object.keys(this.#object);
  }

  raw(key: string): unknown {
    return Object.hasOwn(this.#object, key) ? (this.#object[key] ?? undefined) : undefined;
  }

  text(key: string, maxLength: number): string {
    return this.optionalText(key, maxLength) ?? this.refuse(key, 'is missing');
  }

  optionalText(key: string, maxLength: number): string | undefined {
    const value = this.raw(key);
    return value === undefined ? undefined : this.#asText(value, key, maxLength);
  }

  /** Text of a certain form, for example an interface name. */
  textThat(isValid: (text: string) => boolean, key: string, what: string): string {
    const value = this.raw(key);
    if (value === undefined) return this.refuse(key, 'is missing');
    return typeof value === 'string' && isValid(value) ? value : this.refuse(key, `must be ${what}`);
  }

  optionalFlag(key: string): boolean | undefined {
    const value = this.raw(key);
    if (value === undefined || typeof value === 'boolean') return value;
    return this.refuse(key, 'must be true or false');
  }

  optionalInteger(key: string, min: number, max: number): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.refuse(key, `must be a whole number from ${min} to ${max}`);
  }

  optionalTexts(key: string, maxItems: number, maxLength: number): readonly string[] | undefined {
    return this.#optionalList(key, maxItems)?.map((item, at) => this.#asText(item, `${key}[${at}]`, maxLength));
  }

  /** A plain string is taken as a list of one. */
  textOrTexts(key: string, maxItems: number, maxLength: number): readonly string[] | undefined {
    if (typeof this.raw(key) === 'string') return [this.text(key, maxLength)];
    return this.optionalTexts(key, maxItems, maxLength);
  }

  optionalObject(key: string): JsonFields | undefined {
    const value = this.raw(key);
    return value === undefined ? undefined : this.#asObject(value, key);
  }

  optionalObjects(key: string, maxItems: number): readonly JsonFields[] | undefined {
    return this.#optionalList(key, maxItems)?.map((item, at) => this.#asObject(item, `${key}[${at}]`));
  }

  objects(key: string, maxItems: number): readonly JsonFields[] {
    return this.optionalObjects(key, maxItems) ?? this.refuse(key, 'is missing');
  }

  refuse(key: string, complaint: string): never {
    throw new IpamError(this.#reason, `${this.#path}${key} ${complaint}`);
  }

  #optionalList(key: string, maxItems: number): readonly unknown[] | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.refuse(key, 'must be a list');
    return value.length <= maxItems ? value : this.refuse(key, `has more than ${maxItems} items`);
  }

  #asText(value: unknown, key: string, maxLength: number): string {
    if (typeof value !== 'string') return this.refuse(key, 'must be a string');
    if (value.length > maxLength) return this.refuse(key, `is longer than ${maxLength} characters`);
    return isPlainText(value, maxLength) ? value : this.refuse(key, 'contains control characters');
  }

  #asObject(value: unknown, key: string): JsonFields {
    if (!isJsonObject(value)) return this.refuse(key, 'must be an object');
    return new JsonFields(value, `${this.#path}${key}.`, this.#reason);
  }
}
