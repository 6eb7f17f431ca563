import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import type { TakenAddress } from '#pkg/ledger/ledger.ts';
import { decodeRecordSpec } from '#pkg/record/decode-record.ts';
import { holderKey, type IpRecord, RECORD_STATES } from '#pkg/record/ip-record.ts';
import { parseRecordName } from '#pkg/record/record-metadata.ts';

export type Row = Record<string, SQLOutputValue>;

/** `spec` is the truth, the columns taken from it are only ways to find the row. */
export function toRow({ name, uid, resourceVersion, createdAt, spec }: IpRecord): Record<string, SQLInputValue> {
  const address = parseAddress(spec.address);
  return {
    name,
    uid,
    resource_version: Number(resourceVersion),
    created_at: createdAt,
    pool: spec.pool.name,
    node: spec.holder.node,
    state: spec.state,
    holder_key: holderKey(spec.holder, address.family),
    address: Uint8Array.from(Buffer.from(address.value.toString(16).padStart(32, '0'), 'hex')),
    spec: JSON.stringify(spec),
  };
}

export function rowToRecord(row: Row): IpRecord {
  const name = String(row['name']);
  try {
    return {
      name,
      uid: String(row['uid']),
      resourceVersion: String(row['resource_version']),
      createdAt: String(row['created_at']),
      spec: decodeRecordSpec(JSON.parse(String(row['spec']))),
    };
  } catch (thrown) {
    throw new IpamError('io-failure', `the record ${name} cannot be read: ${toIpamError(thrown).message}`, {
      cause: thrown,
    });
  }
}

export function toTakenAddress(row: Row): TakenAddress {
  const state = RECORD_STATES.find((known) => known === row['state']);
  const named = parseRecordName(String(row['name']));
  if (state === undefined || named === null || !(row['address'] instanceof Uint8Array)) {
    throw new IpamError('io-failure', `the record ${row['name']} has a state or an address that cannot be read`);
  }
  const value = BigInt(`0x${Buffer.from(row['address']).toString('hex')}`);
  return { value, family: named.address.family, domain: named.domain, state, node: String(row['node']) };
}
