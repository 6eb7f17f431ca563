import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
const NOT_IN_INTERFACE_NAMES = /[/:\s]/;
const MAX_CONTAINER_ID = 128;
const MAX_NETWORK_NAME = 253;
const MAX_INTERFACE_NAME_BYTES = 15;
const MAX_POD_NAME = 253;

/** Short enough, and nothing in it that could forge a line of a log or end a C string. */
export function isPlainText(text: string, maxLength: number): boolean {
  if (text.length > maxLength) return false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) return false;
  }
  return true;
}

/** At most `maxLength` code units, never half of a surrogate pair. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const kept = text.slice(0, maxLength - 1);
  return `${endsInHighSurrogate(kept) ? kept.slice(0, -1) : kept}…`;
}

/** Foreign text inside our own sentence: short, quoted, control characters escaped. */
export function quoteInput(text: string): string {
  return JSON.stringify(clip(text, 80));
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

export function isContainerId(text: string): boolean {
  return text.length <= MAX_CONTAINER_ID && NAME.test(text);
}

export function isNetworkName(text: string): boolean {
  return text.length <= MAX_NETWORK_NAME && NAME.test(text);
}

/** A name of a pod or of its namespace; empty where the runtime knows none. A slash would make two names look like one. */
export function isPodName(text: string): boolean {
  return isPlainText(text, MAX_POD_NAME) && !text.includes('/') && !LONE_SURROGATE.test(text);
}

/** What Linux takes as the name of a link (IFNAMSIZ counts bytes and the closing NUL). */
export function isInterfaceName(text: string): boolean {
  return (
    text !== '' &&
    text !== '.' &&
    text !== '..' &&
    isPlainInterfaceText(text) &&
    !NOT_IN_INTERFACE_NAMES.test(text) &&
    !LONE_SURROGATE.test(text)
  );
}

function isPlainInterfaceText(text: string): boolean {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x20 || point === 0x7f) return false;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > MAX_INTERFACE_NAME_BYTES) return false;
  }
  return true;
}

const MAX_DEPTH = 64;
const MAX_NODES = 100_000;
/** QuickJS hashes names without a seed: colliding ones cost the square of their number. */
const MAX_KEYS = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENERS = [0x5b, 0x7b];
const CLOSERS = [0x5d, 0x7d];

type JsonObject = Readonly<Record<string, unknown>>;

/** Parses a document of foreign origin that must be one JSON object. `what` is how errors call it. */
export function parseJsonObject(text: string, what: string, reason: Reason): JsonObject {
  const value = parseBoundedJson(text, what, reason);
  if (!isJsonObject(value)) throw new IpamError(reason, `${what} is not a JSON object`, { details: beginning(text) });
  return value;
}

export function parseBoundedJson(text: string, what: string, reason: Reason): unknown {
  if (text.trim() === '') throw new IpamError(reason, `${what} is empty`);
  const excess = findExcess(text);
  if (excess !== null) throw new IpamError(reason, `${what} is ${excess}`);
  try {
    return JSON.parse(text);
  } catch {
    // The engine's own words differ between Node and QuickJS.
    throw new IpamError(reason, `${what} is not JSON`, { details: beginning(text) });
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Looks before JSON.parse, which recurses in QuickJS. On text that is no JSON the answer does not matter. */
function findExcess(text: string): string | null {
  const keys: number[] = [];
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === COMMA) nodes++;
    else if (unit === COLON) {
      keys[depth] = (keys[depth] ?? 0) + 1;
      if ((keys[depth] ?? 0) > MAX_KEYS) return `an object with more than ${MAX_KEYS} keys, or has one inside`;
    } else if (CLOSERS.includes(unit)) depth--;
    else if (OPENERS.includes(unit)) {
      nodes++;
      if (++depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
      keys[depth] = 0;
    }
    if (nodes > MAX_NODES) return `made of more than ${MAX_NODES} values`;
  }
  return null;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at++;
    else if (unit === QUOTE) return at;
  }
  return text.length;
}

function beginning(text: string): string {
  return `It begins with ${quoteInput(text)}.`;
}

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
