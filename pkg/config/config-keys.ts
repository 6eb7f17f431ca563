import { DEFAULT_SOCKET, LONGEST_SOCKET_PATH } from '#pkg/agentapi/paths.ts';
import { asBoolean, asInteger, asOneOf, asString, refuse } from '#pkg/decode/untrusted.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { ClusterConfig } from './cluster-config.ts';

interface ConfigKey<T> {
  readonly fallback: T;
  /** Throws an error that says what is wrong with the value and what is allowed. */
  readonly read: (value: unknown, key: string) => T;
  /** The same as a JSON schema, for values.schema.json of the chart. */
  readonly schema: Readonly<Record<string, unknown>>;
}

const MOST_REDUNDANT_IPS = 5_000;
const SOCKET_PATH = { type: 'string', pattern: '^/[^\\s]*[^/\\s]$', maxLength: LONGEST_SOCKET_PATH };

/**
 * Every key that has an effect. The defaults are those of Spiderpool's chart, because its users know them. Only the default of
 * `enableValidatingResourcesDeletedWebhook` is the one of Spiderpool's documentation.
 */
export const CONFIG_KEYS: { readonly [K in keyof ClusterConfig]: ConfigKey<ClusterConfig[K]> } = {
  ipamUnixSocketPath: { fallback: DEFAULT_SOCKET, read: asSocketPath, schema: SOCKET_PATH },
  enableIPv4: flag(true),
  enableIPv6: flag(true),
  enableStatefulSet: flag(true),
  enableKubevirtStaticIP: flag(true),
  enableSpiderSubnet: flag(true),
  enableAutoPoolForApplication: flag(true),
  clusterSubnetAutoPoolDefaultRedundantIPNumber: whole(0, MOST_REDUNDANT_IPS, 0),
  enableCleanOutdatedEndpoint: flag(false),
  enableIPConflictDetection: flag(false),
  enableGatewayDetection: flag(false),
  enableValidatingResourcesDeletedWebhook: flag(true),
  probeWindowMs: whole(20, 2_000, 100),
  probeCount: whole(1, 10, 3),
  quarantineSeconds: whole(1, 604_800, 900),
  onIPConflict: oneOf(['next', 'block']),
  exhaustedWaitSeconds: whole(0, 3_600, 10),
  // Not shorter: an agent learns within 10 minutes that its record is Suspect, and then shows every 20 that it sees the sandbox.
  suspectReleaseMinutes: wholeOrNever(30, 10_080, 60),
};

/** Other spellings of a key. Spiderpool's chart and documentation use them, but its programs never read them. */
export const ALIASES: Readonly<Record<string, keyof ClusterConfig>> = {
  clusterSubnetDefaultFlexibleIPNumber: 'clusterSubnetAutoPoolDefaultRedundantIPNumber',
};

function flag(fallback: boolean): ConfigKey<boolean> {
  return { fallback, read: asBoolean, schema: { type: 'boolean' } };
}

function whole(lowest: number, highest: number, fallback: number): ConfigKey<number> {
  const schema = { type: 'integer', minimum: lowest, maximum: highest };
  return { fallback, read: (value, key) => asInteger(value, key, lowest, highest), schema };
}

function wholeOrNever(lowest: number, highest: number, fallback: number): ConfigKey<number> {
  const schema = { type: 'integer', oneOf: [{ const: 0 }, { minimum: lowest, maximum: highest }] };
  return { fallback, read: (value, key) => (value === 0 ? 0 : asInteger(value, key, lowest, highest)), schema };
}

/** The first one is the default. */
function oneOf<T extends string>(choices: readonly [T, ...T[]]): ConfigKey<T> {
  return { fallback: choices[0], read: (value, key) => asOneOf(value, key, choices), schema: { enum: choices } };
}

function asSocketPath(value: unknown, key: string): string {
  const path = asString(value, key, LONGEST_SOCKET_PATH);
  const isPlain = path.startsWith('/') && !path.endsWith('/') && !path.includes('\0') && !path.includes('/../');
  return isPlain ? path : refuse(key, `expected the absolute path of a socket, found ${quote(path)}`);
}
