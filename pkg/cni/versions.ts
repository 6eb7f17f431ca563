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
