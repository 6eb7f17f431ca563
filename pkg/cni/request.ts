import { IpamError } from '#pkg/errors/ipam-error.ts';
import {
  decodeIpamConf,
  decodeNetConf,
  decodeRequestedIps,
  type IpamConf,
  type NetConf,
  peekVersion,
  requireNetwork,
} from './net-conf.ts';
import { decodePrevResult, type PrevAddress } from './prev-result.ts';
import { type CniVersion, isVerb, type Verb } from './result.ts';
import { clip, isContainerId, isInterfaceName, isPlainText, isPodName, quoteInput } from './untrusted-input.ts';
import { decodeValidAttachments, type ValidAttachment } from './valid-attachments.ts';

interface Common {
  readonly cniVersion: CniVersion;
  readonly network: string | undefined;
}

interface OfAttachment extends Common, CniAttachment {
  /** Empty texts where the runtime said nothing. */
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
}

export interface AddRequest extends OfAttachment {
  readonly verb: 'ADD';
  readonly network: string;
  readonly ipam: IpamConf;
  readonly requestedIPs: readonly string[];
}

export interface DelRequest extends OfAttachment {
  readonly verb: 'DEL';
}

export interface CheckRequest extends OfAttachment {
  readonly verb: 'CHECK';
  readonly addresses: readonly PrevAddress[];
}

export interface GcRequest extends Common {
  readonly verb: 'GC';
  readonly network: string;
  readonly validAttachments: readonly ValidAttachment[];
}

export interface StatusRequest extends Common {
  readonly verb: 'STATUS';
}

export interface VersionRequest {
  readonly verb: 'VERSION';
  readonly cniVersion: CniVersion;
}

export type CniRequest = AddRequest | DelRequest | CheckRequest | GcRequest | StatusRequest | VersionRequest;
export type RequestOf<V extends Verb> = Extract<CniRequest, { verb: V }>;

/** One CNI call. Each verb looks only at what it needs, so that a DEL is not refused for a key that it would not use. */
export function parseRequest(env: CniEnv, stdin: string): CniRequest {
  return PARSERS[parseVerb(env)](env, stdin);
}

const PARSERS: { readonly [V in Verb]: (env: CniEnv, stdin: string) => RequestOf<V> } = {
  ADD: (env, stdin) => {
    const attachment = parseAttachment(env, true);
    const { pod, ips } = parseCniArgs(env('CNI_ARGS') ?? '');
    const conf = decodeNetConf(stdin, 'ADD');
    return {
      verb: 'ADD',
      ...common(conf),
      network: requireNetwork(conf),
      ...attachment,
      pod,
      ipam: decodeIpamConf(conf.fields),
      requestedIPs: decodeRequestedIps(conf.fields, ips),
    };
  },
  DEL: (env, stdin) => {
    const attachment = parseAttachment(env, false);
    const { pod } = parseCniArgs(env('CNI_ARGS') ?? '');
    return { verb: 'DEL', ...common(decodeNetConf(stdin, 'DEL')), ...attachment, pod };
  },
  CHECK: (env, stdin) => {
    const attachment = parseAttachment(env, true);
    const { pod } = parseCniArgs(env('CNI_ARGS') ?? '');
    const conf = decodeNetConf(stdin, 'CHECK');
    return {
      verb: 'CHECK',
      ...common(conf),
      ...attachment,
      pod,
      addresses: decodePrevResult(conf.fields, attachment.ifName),
    };
  },
  GC: (_env, stdin) => {
    const conf = decodeNetConf(stdin, 'GC');
    return {
      verb: 'GC',
      ...common(conf),
      network: requireNetwork(conf),
      validAttachments: decodeValidAttachments(conf.fields),
    };
  },
  STATUS: (_env, stdin) => ({ verb: 'STATUS', ...common(decodeNetConf(stdin, 'STATUS')) }),
  VERSION: (_env, stdin) => ({ verb: 'VERSION', cniVersion: peekVersion(stdin) }),
};

const common = ({ cniVersion, network }: NetConf): Common => ({ cniVersion, network });

const MAX_PATH = 1024;
const MAX_ARGS_LENGTH = 64 * 1024;
const MAX_ARGS = 100;
const MAX_NAMED_KEYS = 5;

/** Keys that say who asks, and how long their values may be. Multus sends every key twice. */
const IDENTITY = {
  K8S_POD_NAME: 253,
  K8S_POD_NAMESPACE: 253,
  K8S_POD_UID: 128,
  K8S_POD_INFRA_CONTAINER_ID: 128,
  IP: 1024,
} as const;

type IdentityKey = keyof typeof IDENTITY;

/** One environment variable; undefined when unset. */
export type CniEnv = (name: string) => string | undefined;

const FOR_A_PERSON = `This is ipledger's CNI plugin: a container runtime starts it with its request in the environment and on stdin.
A person wants ipledgerctl: try "ipledgerctl --help".`;

function parseVerb(env: CniEnv): Verb {
  const text = env('CNI_COMMAND') ?? '';
  if (text === '') {
    throw new IpamError('bad-environment', 'CNI_COMMAND is not set', { details: FOR_A_PERSON });
  }
  if (!isVerb(text)) throw new IpamError('bad-environment', `CNI_COMMAND is none of CNI's verbs: ${quoteInput(text)}`);
  return text;
}

/** One interface of one sandbox: what ADD, DEL and CHECK are about. */
export interface CniAttachment {
  readonly containerID: string;
  readonly ifName: string;
  /** Empty where the runtime gave none, which only DEL may do. */
  readonly netns: string;
}

/** All missing variables are named at once. */
export function parseAttachment(env: CniEnv, netnsRequired: boolean): CniAttachment {
  const required = ['CNI_CONTAINERID', 'CNI_IFNAME', ...(netnsRequired ? ['CNI_NETNS'] : [])];
  const missing = required.filter((name) => (env(name) ?? '') === '');
  if (missing.length > 0) {
    throw new IpamError('bad-environment', `required environment variables are not set: ${missing.join(', ')}`);
  }
  return {
    containerID: valid(
      env,
      'CNI_CONTAINERID',
      isContainerId,
      'at most 128 of a-z A-Z 0-9 _ . -, a letter or digit first',
    ),
    ifName: valid(env, 'CNI_IFNAME', isInterfaceName, 'at most 15 bytes without slash, colon or white space'),
    netns: valid(env, 'CNI_NETNS', isNetnsPath, `an absolute path of at most ${MAX_PATH} characters`),
  };
}

function valid(env: CniEnv, name: string, isValid: (text: string) => boolean, form: string): string {
  const text = env(name) ?? '';
  if (isValid(text)) return text;
  throw new IpamError('bad-environment', `${name} must be ${form}, not ${quoteInput(text)}`);
}

function isNetnsPath(text: string): boolean {
  return text === '' || (text.startsWith('/') && isPlainText(text, MAX_PATH));
}

interface CniArgs {
  /** Empty where the runtime said nothing. */
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly ips: readonly string[];
}

/** Reads CNI_ARGS: `KEY=VALUE` pairs between semicolons, in any order. */
export function parseCniArgs(text: string): CniArgs {
  if (text.length > MAX_ARGS_LENGTH) throw refusal(`CNI_ARGS is longer than ${MAX_ARGS_LENGTH} characters`);
  const identity = new Map<IdentityKey, string>();
  const unknown = new Set<string>();
  let ignoresUnknown = false;
  for (const [key, value] of splitPairs(text)) {
    if (key === 'IgnoreUnknown') ignoresUnknown ||= parseFlag(value);
    else if (isIdentityKey(key)) remember(identity, key, value);
    else unknown.add(key);
  }
  if (unknown.size > 0 && !ignoresUnknown) throw refusal(`CNI_ARGS has unknown keys: ${listKeys(unknown)}`);
  return {
    pod: {
      namespace: identity.get('K8S_POD_NAMESPACE') ?? '',
      name: identity.get('K8S_POD_NAME') ?? '',
      uid: identity.get('K8S_POD_UID') ?? '',
    },
    ips: (identity.get('IP') ?? '')
      .split(',')
      .map((address) => address.trim())
      .filter((address) => address !== ''),
  };
}

function splitPairs(text: string): [string, string][] {
  const pairs = text.split(';').filter((pair) => pair !== '');
  if (pairs.length > MAX_ARGS) throw refusal(`CNI_ARGS has more than ${MAX_ARGS} pairs`);
  return pairs.map((pair) => {
    const equals = pair.indexOf('=');
    if (equals < 1) throw refusal(`CNI_ARGS has an item that is not KEY=VALUE: ${quoteInput(pair)}`);
    return [pair.slice(0, equals), pair.slice(equals + 1)];
  });
}

function isIdentityKey(key: string): key is IdentityKey {
  return Object.hasOwn(IDENTITY, key);
}

function remember(identity: Map<IdentityKey, string>, key: IdentityKey, value: string): void {
  if (!isPlainText(value, IDENTITY[key])) {
    throw refusal(`${key} in CNI_ARGS has control characters or more than ${IDENTITY[key]} characters`);
  }
  if ((key === 'K8S_POD_NAME' || key === 'K8S_POD_NAMESPACE') && !isPodName(value)) {
    throw refusal(`${key} in CNI_ARGS is no name: ${quoteInput(value)}`);
  }
  const known = identity.get(key);
  if (known !== undefined && known !== value) {
    throw refusal(`CNI_ARGS says ${key} twice and differently: ${quoteInput(known)} and ${quoteInput(value)}`);
  }
  identity.set(key, value);
}

function parseFlag(value: string): boolean {
  const flag = value.toLowerCase();
  if (flag === '1' || flag === 'true') return true;
  if (flag === '0' || flag === 'false') return false;
  throw refusal(`IgnoreUnknown in CNI_ARGS must be true or false, not ${quoteInput(value)}`);
}

function listKeys(keys: ReadonlySet<string>): string {
  const named = [...keys].slice(0, MAX_NAMED_KEYS).map((key) => quoteInput(clip(key, 64)));
  return keys.size > MAX_NAMED_KEYS ? `${named.join(', ')} and more` : named.join(', ');
}

function refusal(message: string): IpamError {
  return new IpamError('bad-environment', message);
}
