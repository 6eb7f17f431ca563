import { omitAbsent } from '#pkg/decode/omit-absent.ts';
import {
  asBoolean,
  asFilledString,
  asInteger,
  asObject,
  asOneOf,
  asString,
  type Fields,
  ifPresent,
  refuse,
} from '#pkg/decode/untrusted.ts';
import { quote } from '#pkg/ip/quote.ts';
import { HOLDER_KINDS, type Holder } from './ip-record.ts';

const LONGEST_NAME = 253;
const LONGEST_PATH = 1_024;
const MOST_ATTACHES = 2 ** 31 - 1;

export function decodeHolder(value: unknown, path: string): Holder {
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
