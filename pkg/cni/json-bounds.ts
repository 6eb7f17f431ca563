import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import { quote } from './text-bounds.ts';

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

export type JsonObject = Readonly<Record<string, unknown>>;

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
  return `It begins with ${quote(text)}.`;
}
