/** Every way a call can fail: what the runtime reads (`cni`) and whether trying again may help (`retry`). */
export const REASONS = {
  'incompatible-version': { cni: 1, retry: false },
  'bad-environment': { cni: 4, retry: false },
  'io-failure': { cni: 5, retry: true },
  'bad-input': { cni: 6, retry: false },
  'bad-annotation': { cni: 6, retry: false },
  'bad-config': { cni: 7, retry: false },
  'agent-unavailable': { cni: 11, retry: true },
  'api-server-unavailable': { cni: 11, retry: true },
  'outcome-unknown': { cni: 11, retry: true },
  'out-of-time': { cni: 11, retry: true },
  'caller-gone': { cni: 11, retry: true },
  'agent-busy': { cni: 11, retry: true },
  'pools-exhausted': { cni: 11, retry: true },
  'auto-pool-missing': { cni: 11, retry: true },
  'address-held': { cni: 11, retry: true },
  'sticky-address-conflict': { cni: 11, retry: true },
  'ledger-restored': { cni: 11, retry: true },
  'not-ready': { cni: 50, retry: true },
  'no-eligible-pool': { cni: 100, retry: false },
  'gateway-unreachable': { cni: 101, retry: true },
  'unknown-pool': { cni: 102, retry: false },
  'address-refused': { cni: 103, retry: false },
  'check-failed': { cni: 104, retry: false },
  'address-conflict': { cni: 105, retry: true },
  'unknown-pod': { cni: 106, retry: false },
  internal: { cni: 999, retry: false },
} as const satisfies Record<string, { cni: number; retry: boolean }>;

export type Reason = keyof typeof REASONS;

export function isReason(text: unknown): text is Reason {
  return typeof text === 'string' && Object.hasOwn(REASONS, text);
}
