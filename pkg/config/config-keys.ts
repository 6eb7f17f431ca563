import { DEFAULT_SOCKET, LONGEST_SOCKET_PATH } from '#pkg/agentapi/paths.ts';
import { asBoolean, asInteger, asOneOf, asString, refuse } from '#pkg/decode/untrusted.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { ClusterConfig } from './cluster-config.ts';

interface ConfigKey<T> {
  readonly fallback: T;
  /** Throws an error that says what is wrong with the value and what is allowed. */
  readonly read: (value: unknown, key: string) => T;
}

const MOST_REDUNDANT_IPS = 5_000;

/**
 * Every key that has an effect. The defaults are those of Spiderpool's chart, because its users know them. Only the default of
 * `enableValidatingResourcesDeletedWebhook` is the one of Spiderpool's documentation.
 */
export const CONFIG_KEYS: { readonly [K in keyof ClusterConfig]: ConfigKey<ClusterConfig[K]> } = {
  ipamUnixSocketPath: { fallback: DEFAULT_SOCKET, read: asSocketPath },
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
  onIPConflict: { fallback: 'next', read: (value, key) => asOneOf(value, key, ['next', 'block']) },
  exhaustedWaitSeconds: whole(0, 3_600, 10),
  // Not shorter: an agent learns within 10 minutes that its record is Suspect, and then shows every 20 that it sees the sandbox.
  suspectReleaseMinutes: wholeOrNever(30, 10_080, 60),
};

/** Other spellings of a key. Spiderpool's chart and documentation use them, but its programs never read them. */
export const ALIASES: Readonly<Record<string, keyof ClusterConfig>> = {
  clusterSubnetDefaultFlexibleIPNumber: 'clusterSubnetAutoPoolDefaultRedundantIPNumber',
};

function flag(fallback: boolean): ConfigKey<boolean> {
  return { fallback, read: asBoolean };
}

function whole(lowest: number, highest: number, fallback: number): ConfigKey<number> {
  return { fallback, read: (value, key) => asInteger(value, key, lowest, highest) };
}

function wholeOrNever(lowest: number, highest: number, fallback: number): ConfigKey<number> {
  return { fallback, read: (value, key) => (value === 0 ? 0 : asInteger(value, key, lowest, highest)) };
}

function asSocketPath(value: unknown, key: string): string {
  const path = asString(value, key, LONGEST_SOCKET_PATH);
  const isPlain = path.startsWith('/') && !path.endsWith('/') && !path.includes('\0') && !path.includes('/../');
  return isPlain ? path : refuse(key, `expected the absolute path of a socket, found ${quote(path)}`);
}
