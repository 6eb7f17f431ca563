import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { JsonFields } from './json-fields.ts';
import { clip, quote } from './text-bounds.ts';

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
    .map((key) => `ipam key ${quote(clip(key, 64))} is ignored: ${because(key)}`);
  if (keys.length > MAX_WARNINGS) warnings.push(`${keys.length - MAX_WARNINGS} more ipam keys are ignored`);
  return warnings;
}

function because(key: string): string {
  if (PATHS.includes(key)) return 'no path is taken from network configuration';
  if (LOGGING.includes(key)) return 'the plugin logs through the agent';
  return 'it is not known';
}
