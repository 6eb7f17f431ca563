import {
  asFilledString,
  asListOf,
  asParsed,
  childPath,
  type Fields,
  ifPresent,
  refuse,
} from '#pkg/decode/untrusted.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { compilePattern } from '#pkg/text/wildcard.ts';

/** A JSON list of namespaces, `*` allowed in them: whose applications may have pools made from the subnet. */
export const ALLOWED_NAMESPACES = 'ipledger.io/allowed-namespaces';
/** How many addresses the pools made for the applications of one namespace may have together. */
export const MOST_PER_NAMESPACE = 'ipledger.io/max-ips-per-namespace';

/** Which namespaces may have pools made from a subnet, and how much; null: no limit, as in Spiderpool. */
export interface SubnetLimits {
  readonly allowedNamespaces: readonly string[] | null;
  readonly mostPerNamespace: number | null;
}

const LONGEST_LIST = 64 * 1024;
const LONGEST_PATTERN = 253;
const MOST_PATTERNS = 100;

export function decodeSubnetLimits(annotations: Fields): SubnetLimits {
  const path = (name: string) => childPath('metadata.annotations', name);
  return {
    allowedNamespaces:
      ifPresent(annotations[ALLOWED_NAMESPACES], (value) =>
        asParsed(value, path(ALLOWED_NAMESPACES), LONGEST_LIST, parsePatterns),
      ) ?? null,
    mostPerNamespace:
      ifPresent(annotations[MOST_PER_NAMESPACE], (value) =>
        asParsed(value, path(MOST_PER_NAMESPACE), 32, parseCount),
      ) ?? null,
  };
}

export function isNamespaceAllowed({ allowedNamespaces }: SubnetLimits, namespace: string): boolean {
  return allowedNamespaces === null || allowedNamespaces.some((pattern) => compilePattern(pattern)(namespace));
}

function parsePatterns(text: string): readonly string[] {
  const patterns = asListOf(parseJson(text), 'the list', (item, path) => asFilledString(item, path, LONGEST_PATTERN));
  if (patterns.length > MOST_PATTERNS)
    refuse('the list', `has ${patterns.length} items, at most ${MOST_PATTERNS} are allowed`);
  for (const pattern of patterns) compilePattern(pattern);
  return patterns;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new IpamError('bad-input', `expected a list such as ["team-a", "team-b-*"], found ${quote(text)}`);
  }
}

function parseCount(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new IpamError('bad-input', `expected a number of addresses such as "100", found ${quote(text)}`);
}
