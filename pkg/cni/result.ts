import { IpamError } from '#pkg/errors/ipam-error.ts';
import { REASONS } from '#pkg/errors/reasons.ts';
import { clip } from './untrusted-input.ts';

/** Oldest first. */
export const SUPPORTED_VERSIONS = ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;
export const NEWEST_VERSION = '1.1.0';

export type CniVersion = (typeof SUPPORTED_VERSIONS)[number];

/** The version of the specification that brought each verb. */
const SINCE = {
  ADD: '0.3.0',
  DEL: '0.3.0',
  VERSION: '0.3.0',
  CHECK: '0.4.0',
  GC: '1.1.0',
  STATUS: '1.1.0',
} as const satisfies Record<string, CniVersion>;

export type Verb = keyof typeof SINCE;

export function isVerb(text: string): text is Verb {
  return Object.hasOwn(SINCE, text);
}

export function isSupportedVersion(value: unknown): value is CniVersion {
  return SUPPORTED_VERSIONS.some((version) => version === value);
}

export function allowsVerb(version: CniVersion, verb: Verb): boolean {
  return SUPPORTED_VERSIONS.indexOf(version) >= SUPPORTED_VERSIONS.indexOf(SINCE[verb]);
}

const MAX_MESSAGE = 1024;
const MAX_DETAILS = 8 * 1024;

/** What the agent answered: the addresses of every interface of the holder. */
export interface Allocation {
  readonly ips: readonly {
    readonly version: 4 | 6;
    readonly address: string;
    readonly nic: string;
    readonly gateway?: string;
  }[];
  readonly routes?: readonly { readonly ifName: string; readonly dst: string; readonly gw: string }[];
  readonly dns?: object;
}

export interface AddResult {
  readonly cniVersion: CniVersion;
  readonly ips: readonly { readonly version?: '4' | '6'; readonly address: string; readonly gateway?: string }[];
  readonly routes?: readonly { readonly dst: string; readonly gw?: string }[];
  readonly dns: object;
}

const VERSIONS_WITH_FAMILY: readonly CniVersion[] = ['0.3.0', '0.3.1', '0.4.0'];

/** The answer to ADD in the shape of the asked version, with the entries of this interface only. */
export function toAddResult(cniVersion: CniVersion, ifName: string, allocation: Allocation): AddResult {
  const ips = allocation.ips.filter((ip) => ip.nic === ifName);
  if (ips.length === 0) throw new IpamError('internal', `the agent's answer has no address for interface ${ifName}`);
  const routes = (allocation.routes ?? []).filter((route) => route.ifName === ifName);
  return {
    cniVersion,
    ips: ips.map(({ version, address, gateway }) => ({
      ...(VERSIONS_WITH_FAMILY.includes(cniVersion) ? { version: version === 4 ? '4' : '6' } : {}),
      address,
      ...(gateway ? { gateway } : {}),
    })),
    ...(routes.length > 0 ? { routes: routes.map(({ dst, gw }) => (gw === '' ? { dst } : { dst, gw })) } : {}),
    dns: allocation.dns ?? {},
  };
}

interface ErrorDocument {
  readonly cniVersion: CniVersion;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

export function toErrorDocument(error: IpamError, cniVersion: CniVersion): ErrorDocument {
  return {
    cniVersion,
    code: REASONS[error.reason].cni,
    msg: clip(error.message, MAX_MESSAGE),
    ...(error.details === '' ? {} : { details: clip(error.details, MAX_DETAILS) }),
  };
}
