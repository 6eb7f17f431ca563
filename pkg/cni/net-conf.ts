import { IpamError } from '#pkg/errors/ipam-error.ts';
import {
  allowsVerb,
  type CniVersion,
  isSupportedVersion,
  NEWEST_VERSION,
  SUPPORTED_VERSIONS,
  type Verb,
} from './result.ts';
import { clip, isNetworkName, isPlainText, JsonFields, parseJsonObject, quoteInput } from './untrusted-input.ts';

/** The specification's meaning of a configuration without `cniVersion`. */
const UNSTATED_VERSION = '0.1.0';
const MAX_ADDRESSES = 8;
/** The longest form of an IPv6 address with prefix length has 49 characters. */
const MAX_ADDRESS = 64;
const MAX_LISTED = 64;
const MAX_POOLS = 100;
const MAX_POOL_NAME = 253;
const MAX_WARNINGS = 20;

const KNOWN = ['type', 'default_ipv4_ippool', 'default_ipv6_ippool', 'clean_gateway', 'match_master_subnet'];

/** Keys of Spiderpool and of other IPAM plugins that would have a root process open what the configuration names. */
const PATHS = [
  'log_file_path',
  'ipam_unix_socket_path',
  'kubeconfig',
  'kubernetes',
  'socket',
  'socket_path',
  'socketPath',
  'daemon_socket',
  'daemonSocket',
  'dataDir',
  'resolvConf',
  'configuration_path',
];
const LOGGING = ['log_level', 'log_file_max_size', 'log_file_max_age', 'log_file_max_count'];

/** What every verb reads of the network configuration; `fields` is the rest, for those who need it. */
export interface NetConf {
  readonly cniVersion: CniVersion;
  /** Undefined where the configuration has no name, which only ADD and GC object to. */
  readonly network: string | undefined;
  readonly fields: JsonFields;
}

export function decodeNetConf(stdin: string, verb: Verb): NetConf {
  const fields = new JsonFields(
    parseJsonObject(stdin, 'the network configuration on stdin', 'bad-input'),
    '',
    'bad-config',
  );
  return { cniVersion: decodeVersion(fields, verb), network: decodeName(fields), fields };
}

export function requireNetwork(conf: NetConf): string {
  return conf.network ?? conf.fields.refuse('name', 'is missing in the network configuration');
}

/** The version to answer in when the request itself cannot be served. */
export function peekVersion(stdin: string): CniVersion {
  try {
    const { cniVersion } = parseJsonObject(stdin, 'stdin', 'bad-input') as { cniVersion?: unknown };
    return isSupportedVersion(cniVersion) ? cniVersion : NEWEST_VERSION;
  } catch {
    return NEWEST_VERSION;
  }
}

function decodeVersion(fields: JsonFields, verb: Verb): CniVersion {
  const version = fields.optionalText('cniVersion', 64) ?? UNSTATED_VERSION;
  if (!isSupportedVersion(version)) {
    const stated =
      fields.raw('cniVersion') === undefined ? `${UNSTATED_VERSION}, because it states none` : quoteInput(version);
    throw new IpamError(
      'incompatible-version',
      `CNI version of the network configuration is not supported: ${quoteInput(version)}`,
      {
        details: `The configuration is of version ${stated}; supported are ${SUPPORTED_VERSIONS.join(', ')}.`,
      },
    );
  }
  if (!allowsVerb(version, verb)) {
    throw new IpamError(
      'incompatible-version',
      `CNI version ${version} of the network configuration does not allow ${verb}`,
    );
  }
  return version;
}

function decodeName(fields: JsonFields): string | undefined {
  if ((fields.raw('name') ?? '') === '') return undefined;
  return fields.textThat(isNetworkName, 'name', 'at most 253 of a-z A-Z 0-9 _ . -, a letter or digit first');
}

/** The `ipam` section of the network configuration. */
export interface IpamConf {
  readonly ipv4Pools: readonly string[];
  readonly ipv6Pools: readonly string[];
  readonly cleanGateway: boolean;
  readonly matchMasterSubnet: boolean;
  /** What was not honoured, one sentence each. */
  readonly warnings: readonly string[];
}

export function decodeIpamConf(conf: JsonFields): IpamConf {
  const ipam = conf.optionalObject('ipam');
  if (ipam === undefined) throw new IpamError('bad-config', 'ipam is missing in the network configuration');
  ipam.optionalText('type', MAX_POOL_NAME);
  return {
    ipv4Pools: ipam.textOrTexts('default_ipv4_ippool', MAX_POOLS, MAX_POOL_NAME) ?? [],
    ipv6Pools: ipam.textOrTexts('default_ipv6_ippool', MAX_POOLS, MAX_POOL_NAME) ?? [],
    cleanGateway: ipam.optionalFlag('clean_gateway') ?? false,
    matchMasterSubnet: ipam.optionalFlag('match_master_subnet') ?? false,
    warnings: warningsAbout(ipam.keys().filter((key) => !KNOWN.includes(key))),
  };
}

function warningsAbout(keys: readonly string[]): string[] {
  const warnings = keys
    .slice(0, MAX_WARNINGS)
    .map((key) => `ipam key ${quoteInput(clip(key, 64))} is ignored: ${because(key)}`);
  if (keys.length > MAX_WARNINGS) warnings.push(`${keys.length - MAX_WARNINGS} more ipam keys are ignored`);
  return warnings;
}

function because(key: string): string {
  if (PATHS.includes(key)) return 'no path is taken from network configuration';
  if (LOGGING.includes(key)) return 'the plugin logs through the agent';
  return 'it is not known';
}

/** Fixed addresses from all three places that may ask for some; Multus fills two of them with the same text. */
export function decodeRequestedIps(conf: JsonFields, fromCniArgs: readonly string[]): readonly string[] {
  const addresses = new Set([
    ...ipsOf(conf.optionalObject('runtimeConfig')),
    ...ipsOf(conf.optionalObject('args')?.optionalObject('cni')),
    ...fromCniArgs.map(boundedAddress),
  ]);
  if (addresses.size > MAX_ADDRESSES) {
    throw new IpamError('bad-config', `${addresses.size} addresses are asked for, at most ${MAX_ADDRESSES} can be`);
  }
  return [...addresses];
}

function ipsOf(fields: JsonFields | undefined): readonly string[] {
  return fields?.textOrTexts('ips', MAX_LISTED, MAX_ADDRESS) ?? [];
}

function boundedAddress(text: string): string {
  if (isPlainText(text, MAX_ADDRESS)) return text;
  throw new IpamError('bad-environment', `IP in CNI_ARGS is no address: ${quoteInput(text)}`);
}
