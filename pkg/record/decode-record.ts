import { asDnsLabel, asDnsSubdomain } from '#pkg/decode/dns-name.ts';
import { omitAbsent } from '#pkg/decode/omit-absent.ts';
import {
  asBoolean,
  asInteger,
  asListOf,
  asObject,
  asOneOf,
  asParsed,
  asString,
  ifPresent,
  refuse,
} from '#pkg/decode/untrusted.ts';
import { addressBits, type Family, formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { formatCidr, parseCidr } from '#pkg/ip/cidr.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { Route } from '#pkg/pool/pool.ts';
import { decodeHolder } from './decode-holder.ts';
import { RECORD_STATES, type RecordSpec, type RecordState } from './ip-record.ts';
import { isTimed } from './states.ts';

const LONGEST_CIDR = 64;
const RFC_3339 = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Reads the spec of an IPRecord. Fields it does not know are left out: a newer version may have written them. */
export function decodeRecordSpec(value: unknown): RecordSpec {
  const spec = asObject(value, 'spec');
  const { text: address, family } = decodeCanonical(spec['address'], 'spec.address');
  const state = asOneOf(spec['state'], 'spec.state', RECORD_STATES);
  return omitAbsent({
    address,
    prefix: asInteger(spec['prefix'], 'spec.prefix', 0, addressBits(family)),
    gateway: ifPresent(spec['gateway'], (gateway) => decodeTextOfFamily(gateway, 'spec.gateway', family)),
    domain: asDnsLabel(spec['domain'], 'spec.domain'),
    pool: decodePoolReference(spec['pool']),
    state,
    until: decodeUntil(spec['until'], state),
    holder: decodeHolder(spec['holder'], 'spec.holder'),
    routes: ifPresent(spec['routes'], (routes) => decodeRoutes(routes, family)),
    cleanGateway: ifPresent(spec['cleanGateway'], (clean) => asBoolean(clean, 'spec.cleanGateway')),
  });
}

function decodeCanonical(value: unknown, path: string): { text: string; family: Family } {
  const address = asParsed(value, path, LONGEST_CIDR, parseAddress);
  const text = formatAddress(address);
  if (text !== value) refuse(path, `${quote(String(value))} is not canonical; expected ${text}`);
  return { text, family: address.family };
}

function decodeTextOfFamily(value: unknown, path: string, family: Family): string {
  const { text, family: found } = decodeCanonical(value, path);
  return found === family ? text : refuse(path, `${text} is not IPv${family} like spec.address`);
}

function decodePoolReference(value: unknown): RecordSpec['pool'] {
  const pool = asObject(value, 'spec.pool');
  return {
    kind: asOneOf(pool['kind'], 'spec.pool.kind', ['SpiderIPPool']),
    name: asDnsSubdomain(pool['name'], 'spec.pool.name'),
    uid: asString(pool['uid'], 'spec.pool.uid', 128),
  };
}

function decodeUntil(value: unknown, state: RecordState): string | undefined {
  const until = ifPresent(value, (text) => asString(text, 'spec.until', 64));
  if (isTimed(state) !== (until !== undefined)) {
    refuse('spec.until', until === undefined ? `missing in state ${state}` : `not allowed in state ${state}`);
  }
  if (until !== undefined && !(RFC_3339.test(until) && Number.isFinite(Date.parse(until)))) {
    refuse('spec.until', `${quote(until)} is not an RFC 3339 time`);
  }
  return until;
}

function decodeRoutes(value: unknown, family: Family): Route[] {
  return asListOf(value, 'spec.routes', (item, path) => {
    const route = asObject(item, path);
    const destination = asParsed(route['dst'], `${path}.dst`, LONGEST_CIDR, parseCidr);
    if (destination.family !== family)
      refuse(`${path}.dst`, `${formatCidr(destination)} is not IPv${family} like spec.address`);
    return { dst: formatCidr(destination), gw: decodeTextOfFamily(route['gw'], `${path}.gw`, family) };
  });
}
