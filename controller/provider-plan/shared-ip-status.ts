import { isDeepStrictEqual } from 'node:util';
import { settleConditions } from '#controller/project/condition.ts';
import { VIP_INTERFACE } from '#pkg/vitistack/provider-names.ts';
import type { NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import type { SharedIp } from '#pkg/vitistack/read-shared-ip.ts';

export type SharedIpStatus = Readonly<Record<string, unknown>> & { readonly conditions: readonly unknown[] };

type Verdict = keyof typeof STATES;

const STATES = {
  Ready: { status: 'Synced', condition: { status: 'True', reason: 'Configured' } },
  Pending: { status: 'WaitingForIPAllocation', condition: { status: 'False', reason: 'Reconciling' } },
  Error: { status: 'IPAllocationFailed', condition: { status: 'False', reason: 'Error' } },
} as const;

/** What Vitistack's users read in the status too. */
const COPIED = [
  'clusterIdentifier',
  'supervisorIdentifier',
  'datacenterIdentifier',
  'networkNamespaceIdentifier',
  'environment',
  'method',
  'poolMembers',
];

/**
 * The part of the status that is ours, or null if it is there. `configuration`: that of its address, or why there can be none. The
 * address stays in the status until there is another one.
 */
export function planSharedIpStatus(
  sharedIp: SharedIp,
  configuration: NetworkConfiguration | string,
  now: Date,
): SharedIpStatus | null {
  const { spec, status: before, generation, createdAt } = sharedIp;
  const { verdict, message, address } = judge(configuration);
  const { status, condition } = STATES[verdict];
  const wanted = { type: 'Ready', ...condition, message, observedGeneration: generation };
  const next: SharedIpStatus = {
    phase: verdict,
    status,
    message,
    created: typeof before['created'] === 'string' ? before['created'] : createdAt,
    conditions: settleConditions(before['conditions'], [wanted], { ours: ['Ready'], now }),
    ...(address === null ? {} : { loadBalancerIps: [address] }),
    ...Object.fromEntries(COPIED.flatMap((field) => (spec[field] === undefined ? [] : [[field, spec[field]]]))),
  };
  const isThere = Object.entries(next).every(([field, value]) => isDeepStrictEqual(before[field], value));
  return isThere ? null : next;
}

function judge(configuration: NetworkConfiguration | string): {
  verdict: Verdict;
  message: string;
  address: string | null;
} {
  if (typeof configuration === 'string') return { verdict: 'Error', message: configuration, address: null };
  const { name, status, shown } = configuration;
  const vip = shown.find((it) => it.name === VIP_INTERFACE);
  const address = vip?.fields['ipAllocated'] === true ? (vip.addresses[0] ?? null) : null;
  if (status['phase'] === 'Error') {
    return { verdict: 'Error', message: `NetworkConfiguration ${name}: ${String(status['message'])}`, address };
  }
  if (address === null || status['phase'] !== 'Ready') {
    return { verdict: 'Pending', message: `waiting for the address of NetworkConfiguration ${name}`, address };
  }
  return { verdict: 'Ready', message: `${address} of NetworkConfiguration ${name}`, address };
}
