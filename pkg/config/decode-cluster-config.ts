import { asObject, childPath, type Fields } from '#pkg/decode/untrusted.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { nearestName } from '#pkg/text/nearest-name.ts';
import type { ClusterConfig } from './cluster-config.ts';
import { ALIASES, CONFIG_KEYS } from './config-keys.ts';
import { describeUnused, UNUSED_KEYS } from './unused-keys.ts';

export interface DecodedConfig {
  readonly config: ClusterConfig;
  /** Keys without effect, one line each. */
  readonly warnings: readonly string[];
}

const MOST_WARNINGS = 50;

/** Reads the content of `conf.yml`. An empty file means all defaults. A bad value throws `bad-config`. */
export function decodeClusterConfig(value: unknown): DecodedConfig {
  try {
    const fields = asObject(value ?? {}, 'conf.yml');
    const config = decodeKeys(withoutAliases(fields));
    if (!(config.enableIPv4 || config.enableIPv6)) {
      throw new IpamError('bad-config', 'enableIPv4 and enableIPv6 are both false: no address could be given out');
    }
    return { config, warnings: findWarnings(fields).slice(0, MOST_WARNINGS) };
  } catch (thrown) {
    if (!(thrown instanceof IpamError)) throw thrown;
    throw new IpamError('bad-config', thrown.message, { cause: thrown });
  }
}

function decodeKeys(fields: Fields): ClusterConfig {
  const entries = Object.entries(CONFIG_KEYS).map(([key, { fallback, read }]) => [
    key,
    key in fields ? read(fields[key], key) : fallback,
  ]);
  return Object.fromEntries(entries) as ClusterConfig;
}

function withoutAliases(fields: Fields): Fields {
  const renamed: Record<string, unknown> = Object.assign(Object.create(null), fields);
  for (const [alias, key] of Object.entries(ALIASES)) {
    if (!(alias in fields)) continue;
    const value = CONFIG_KEYS[key].read(fields[alias], alias);
    if (key in fields && fields[key] !== value) {
      throw new IpamError('bad-config', `${alias} and ${key} are the same setting and differ; write one of them`);
    }
    renamed[key] = value;
  }
  return renamed;
}

function findWarnings(fields: Fields): string[] {
  const known = [...Object.keys(CONFIG_KEYS), ...Object.keys(ALIASES), ...Object.keys(UNUSED_KEYS)];
  return Object.entries(fields).flatMap(([key, value]) => {
    const unused = Object.hasOwn(UNUSED_KEYS, key) ? UNUSED_KEYS[key] : undefined;
    if (unused === undefined) return known.includes(key) ? [] : [describeUnknown(key, known)];
    const parts = unused.parts ?? [];
    const unknownParts = isMap(value) ? Object.keys(value).filter((part) => !parts.includes(part)) : [];
    const said = describeUnused(key, unused, value);
    return [...unknownParts.map((part) => describeUnknown(part, parts, key)), ...(said === null ? [] : [said])];
  });
}

function describeUnknown(key: string, known: readonly string[], parent = ''): string {
  const meant = nearestName(key, known);
  const path = parent === '' ? quote(key) : quote(childPath(parent, key));
  return `unknown key ${path} is ignored${meant === null ? '' : `; did you mean ${meant}?`}`;
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
