import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { nearestName } from '#pkg/text/nearest-name.ts';

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const LONGEST_LABEL = 63;
const LONGEST_SUBDOMAIN = 253;

/** The own fields of an object from outside. It has no prototype, so `constructor` and the like are not there by magic. */
export type Fields = Readonly<Record<string, unknown>>;

const MOST_ITEMS = 1_000;

export function refuse(path: string, message: string): never {
  throw new IpamError('bad-input', `${path}: ${message}`);
}

export function asObject(value: unknown, path: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuseType(value, path, 'an object');
  return Object.assign(Object.create(null), value);
}

export function asString(value: unknown, path: string, maxLength: number): string {
  if (typeof value !== 'string') refuseType(value, path, 'a string');
  if (value.length > maxLength) refuse(path, `${quote(value)} is longer than ${maxLength} characters`);
  return value;
}

export function asFilledString(value: unknown, path: string, maxLength: number): string {
  return asString(value, path, maxLength) || refuse(path, 'must not be empty');
}

export function asBoolean(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') refuseType(value, path, 'true or false');
  return value;
}

export function asInteger(value: unknown, path: string, lowest: number, highest: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < lowest || value > highest) {
    refuseType(value, path, `a whole number from ${lowest} to ${highest}`);
  }
  return value;
}

export function asOneOf<T extends string | number>(value: unknown, path: string, choices: readonly T[]): T {
  return choices.find((choice) => choice === value) ?? refuseType(value, path, choices.join(' or '));
}

function asList(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) refuseType(value, path, 'a list');
  if (value.length > MOST_ITEMS) refuse(path, `has ${value.length} items, at most ${MOST_ITEMS} are allowed`);
  return value;
}

/** A list whose items are read one by one; an absent list is an empty one. */
export function asListOf<T>(value: unknown, path: string, read: (item: unknown, path: string) => T): T[] {
  return asList(value ?? [], path).map((item, index) => read(item, `${path}[${index}]`));
}

/** Null is absent, as the API server has it. */
export function ifPresent<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

/** A text in a notation of its own; what its parser complains about is reported with the path. */
export function asParsed<T>(value: unknown, path: string, maxLength: number, parse: (text: string) => T): T {
  const text = asString(value, path, maxLength);
  try {
    return parse(text);
  } catch (thrown) {
    if (thrown instanceof IpamError)
      throw new IpamError(thrown.reason, `${path}: ${thrown.message}`, { cause: thrown });
    throw thrown;
  }
}

export function refuseUnknownFields(fields: Fields, path: string, known: readonly string[]): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = nearestName(unknown, known);
  refuse(childPath(path, unknown), `unknown field${meant === null ? '' : `; did you mean ${meant}?`}`);
}

export function childPath(path: string, name: string): string {
  return /^[a-z][a-z0-9]{0,62}$/i.test(name) ? `${path}.${name}` : `${path}[${quote(name)}]`;
}

function refuseType(value: unknown, path: string, expected: string): never {
  refuse(path, `expected ${expected}, found ${describe(value)}`);
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'function' ? 'a function' : String(value).slice(0, 80);
}

export function isDnsLabel(text: string): boolean {
  return LABEL.test(text);
}

export function asDnsLabel(value: unknown, path: string): string {
  const text = asString(value, path, LONGEST_LABEL);
  if (!isDnsLabel(text)) {
    refuse(
      path,
      `${quote(text)} is not a DNS label: lower case letters, digits and inner hyphens, at most 63 characters`,
    );
  }
  return text;
}

/** DNS-1123 subdomain as Kubernetes has it: the dots divide, a part may be longer than a label. */
export function asDnsSubdomain(value: unknown, path: string): string {
  const text = asString(value, path, LONGEST_SUBDOMAIN);
  if (!text.split('.').every((part) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(part))) {
    refuse(path, `${quote(text)} is not a DNS name: lower case letters, digits, inner hyphens and dots`);
  }
  return text;
}

type OmitAbsent<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Leaves out what is undefined, so that an absent field is absent in JSON and in comparisons alike. */
export function omitAbsent<T extends object>(fields: T): OmitAbsent<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as OmitAbsent<T>;
}
