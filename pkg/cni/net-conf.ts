import { IpamError } from '#pkg/errors/ipam-error.ts';
import { parseJsonObject } from './json-bounds.ts';
import { JsonFields } from './json-fields.ts';
import { isNetworkName } from './names.ts';
import { quote } from './text-bounds.ts';
import {
  allowsVerb,
  type CniVersion,
  isSupportedVersion,
  NEWEST_VERSION,
  SUPPORTED_VERSIONS,
  type Verb,
} from './versions.ts';

/** The specification's meaning of a configuration without `cniVersion`. */
const UNSTATED_VERSION = '0.1.0';

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
      fields.raw('cniVersion') === undefined ? `${UNSTATED_VERSION}, because it states none` : quote(version);
    throw new IpamError(
      'incompatible-version',
      `CNI version of the network configuration is not supported: ${quote(version)}`,
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
