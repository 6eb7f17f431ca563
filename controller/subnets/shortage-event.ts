import type { AutoPoolPlan } from '#controller/allot/plan-auto-pools.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';

export type Lacking = AutoPoolPlan['shortages'][number];

/**
 * What is left in a subnet changes with every pod of every application. An Event for each of these numbers, for each application that
 * waits, would cost more than the pools: only another wish or another reason is a new Event. The status of the subnet has the numbers.
 */
export function shortageEvent(subnet: string, { interface: nic, why, wanted }: Lacking): EmittedEvent {
  const regarding = wanted.key.application;
  const note = `no addresses from SpiderSubnet ${subnet} for ${nic}: ${why}`;
  const sameAs = JSON.stringify([subnet, nic, wanted.count, why.replace(/\d+/g, '')]);
  return { regarding, type: 'Warning', reason: 'SubnetInsufficient', note, sameAs };
}
