import { isDnsLabel } from '#pkg/decode/untrusted.ts';
import { type Address, formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import { type RecordSpec, recordKey } from './ip-record.ts';

export const DEFAULT_DOMAIN = 'default';

const NAME = /^(\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{4}(?:-[0-9a-f]{4}){7})(?:\.([-a-z0-9]{1,63}))?$/;

/** The one name the record of an address can have: unique names make unique addresses only while there is no second form. */
export function recordName(address: Address, domain: string): string {
  const host = address.family === 4 ? formatAddress(address) : toLongForm(address.value);
  return domain === DEFAULT_DOMAIN ? host : `${host}.${domain}`;
}

/** Null for anything but what `recordName` writes. */
export function parseRecordName(name: string): { address: Address; domain: string } | null {
  const [, host = '', domain = DEFAULT_DOMAIN] = NAME.exec(name) ?? [];
  const address = tryParseAddress(host.replaceAll('-', ':'));
  if (address === null || !isDnsLabel(domain) || recordName(address, domain) !== name) return null;
  return { address, domain };
}

function toLongForm(value: bigint): string {
  return value
    .toString(16)
    .padStart(32, '0')
    .replace(/.{4}(?!$)/g, '$&-');
}

/** What a record is found by. The admission policy of the agents (deploy/admission-policy.yaml) knows these names and forms. */
export const RECORD_LABELS = {
  pool: 'ipledger.io/pool',
  node: 'ipledger.io/node',
  holder: 'ipledger.io/holder',
  state: 'ipledger.io/state',
} as const;

const LABEL_VALUE = /^[a-z0-9](?:[-_.a-z0-9]{0,61}[a-z0-9])?$/i;

export function recordLabels(spec: RecordSpec): Record<string, string> {
  const { pool, state, holder } = spec;
  return {
    [RECORD_LABELS.pool]: toLabelValue(pool.name),
    [RECORD_LABELS.holder]: holderLabel(recordKey({ spec })),
    [RECORD_LABELS.state]: state,
    // A claim's record belongs to no node.
    ...(holder.node === '' ? {} : { [RECORD_LABELS.node]: toLabelValue(holder.node) }),
  };
}

/** A name as a label may hold it: itself, or its hash where it is too long. A label only helps to find: code that lists by a label compares the spec too. */
export function toLabelValue(name: string): string {
  return LABEL_VALUE.test(name) ? name : fnvHash(name);
}

/** `key` is a `holderKey`. */
export function holderLabel(key: string): string {
  return fnvHash(key);
}

const OFFSET_BASIS = 0x6c62272e07bb014262b821756295c58dn;
const PRIME = (1n << 88n) + 0x13bn;

/**
 * FNV-1a with 128 bits, as 32 hexadecimal digits: small, the same everywhere, and long enough that chance makes no two alike. Names
 * can be made up to collide, so code that finds something by a hash compares the whole name.
 */
export function fnvHash(text: string): string {
  let state = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(text)) state = BigInt.asUintN(128, (state ^ BigInt(byte)) * PRIME);
  return state.toString(16).padStart(32, '0');
}
