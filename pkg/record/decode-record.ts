import {
  asBoolean,
  asDnsLabel,
  asDnsSubdomain,
  asFilledString,
  asInteger,
  asListOf,
  asObject,
  asOneOf,
  asParsed,
  asString,
  type Fields,
  ifPresent,
  omitAbsent,
  refuse,
} from '#pkg/decode/untrusted.ts';
import { addressBits, type Family, formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { formatCidr, parseCidr } from '#pkg/ip/cidr.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { Route } from '#pkg/pool/pool.ts';
import {
  HOLDER_KINDS,
  type Holder,
  type IpRecord,
  isTimed,
  MOST_ATTACHES,
  POOL_KINDS,
  RECORD_STATES,
  type RecordSpec,
  type RecordState,
} from './ip-record.ts';

const LONGEST_CIDR = 64;
const LONGEST_TEXT = 512;
const RFC_3339 = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const LONGEST_NAME = 253;
const LONGEST_NAMESPACED = 63 + 1 + LONGEST_NAME;
const LONGEST_PATH = 1_024;

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

/** Reads a record that an agent wrote into a file of its own. */
export function decodeRecord(value: unknown): IpRecord {
  const record = asObject(value, 'record');
  return {
    name: asString(record['name'], 'record.name', LONGEST_TEXT),
    uid: asString(record['uid'], 'record.uid', LONGEST_TEXT),
    resourceVersion: asString(record['resourceVersion'], 'record.resourceVersion', LONGEST_TEXT),
    createdAt: asString(record['createdAt'], 'record.createdAt', LONGEST_TEXT),
    spec: decodeRecordSpec(record['spec']),
  };
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
  const kind = asOneOf(pool['kind'], 'spec.pool.kind', POOL_KINDS);
  return {
    kind,
    name: (kind === 'NetworkNamespace' ? asNamespacedName : asDnsSubdomain)(pool['name'], 'spec.pool.name'),
    uid: asString(pool['uid'], 'spec.pool.uid', 128),
  };
}

/** `namespace/name`. */
function asNamespacedName(value: unknown, path: string): string {
  const text = asString(value, path, LONGEST_NAMESPACED);
  const slash = text.indexOf('/');
  asDnsLabel(text.slice(0, Math.max(slash, 0)), `the namespace of ${path}`);
  asDnsSubdomain(text.slice(slash + 1), `the name of ${path}`);
  return text;
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

function decodeHolder(value: unknown, path: string): Holder {
  const holder = asObject(value, path);
  const text = (name: string, maxLength: number) =>
    ifPresent(holder[name], (item) => asString(item, `${path}.${name}`, maxLength));
  return omitAbsent({
    kind: asOneOf(holder['kind'], `${path}.kind`, HOLDER_KINDS),
    namespace: asKeyPart(holder['namespace'], `${path}.namespace`),
    name: asFilledString(asKeyPart(holder['name'], `${path}.name`), `${path}.name`, LONGEST_NAME),
    uid: text('uid', 128),
    interface: asKeyPart(holder['interface'], `${path}.interface`),
    network: text('network', LONGEST_NAME),
    containerID: text('containerID', LONGEST_NAME),
    netns: text('netns', LONGEST_PATH),
    netnsInode: ifPresent(holder['netnsInode'], (it) =>
      asInteger(it, `${path}.netnsInode`, 1, Number.MAX_SAFE_INTEGER),
    ),
    bootID: text('bootID', 128),
    machineID: text('machineID', 128),
    attachGeneration: decodeAttachGeneration(holder, path),
    node: asString(holder['node'], `${path}.node`, LONGEST_NAME),
    owner: ifPresent(holder['owner'], (owner) => decodeOwner(owner, `${path}.owner`)),
    sticky: ifPresent(holder['sticky'], (it) => asBoolean(it, `${path}.sticky`)),
    static: ifPresent(holder['static'], (it) => asBoolean(it, `${path}.static`)),
  });
}

/** Older records call it `attach`. They are read as they are, and the next write gives the field its new name. */
function decodeAttachGeneration(holder: Fields, path: string): number {
  const name =
    holder['attachGeneration'] === undefined && holder['attach'] !== undefined ? 'attach' : 'attachGeneration';
  return asInteger(holder[name], `${path}.${name}`, 1, MOST_ATTACHES);
}

/** A slash would let two holders share one key (`holderKey`). */
function asKeyPart(value: unknown, path: string): string {
  const text = asString(value, path, LONGEST_NAME);
  return text.includes('/') ? refuse(path, `${quote(text)} must not contain a slash`) : text;
}

function decodeOwner(value: unknown, path: string): NonNullable<Holder['owner']> {
  const owner = asObject(value, path);
  const read = (name: string) => asFilledString(owner[name], `${path}.${name}`, LONGEST_NAME);
  const uid = ifPresent(owner['uid'], (it) => asString(it, `${path}.uid`, 128));
  return omitAbsent({ apiVersion: read('apiVersion'), kind: read('kind'), name: read('name'), uid });
}

/** Why no record may begin like this, or null. */
export function newSpecProblem(spec: RecordSpec): string | null {
  if (spec.state !== 'Allocated' && spec.state !== 'Quarantined') return `a record is not created as ${spec.state}`;
  return addressProblem(spec.address) ?? shapeProblem(spec);
}

/** A second spelling would be a second name for one address. */
function addressProblem(text: string): string | null {
  const canonical = canonicalText(text);
  if (canonical === null) return 'the address is not an IP address';
  return canonical === text ? null : `the address must be written ${canonical}`;
}

function canonicalText(text: string): string | null {
  try {
    return formatAddress(parseAddress(text));
  } catch {
    return null;
  }
}

/** Why no write may leave a record like this, or null. Records that are already like this are read all the same. */
export function shapeProblem({ state, until, holder }: RecordSpec): string | null {
  if (holder.kind === 'Conflict' && state !== 'Quarantined')
    return 'a foreign host holds nothing but a Quarantined record';
  if (!isWellFormed(holder)) return 'a text of the holder has half a character';
  if (!isTimed(state)) return until === undefined ? null : `a record that is ${state} has no until`;
  if (until === undefined || Number.isNaN(Date.parse(until))) return `a record that is ${state} needs a time in until`;
  if (holder.uid !== undefined || holder.containerID !== undefined) {
    return `a record that is ${state} has no uid and no containerID`;
  }
  return null;
}

/** No database and no API keeps a lone surrogate: what is read back would not be what was written. */
function isWellFormed(holder: Holder): boolean {
  return Object.values(holder).every((value) => typeof value !== 'string' || value.isWellFormed());
}
