import type { ApiObject } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';

/** The subnets that applications name, and the networks of their addresses. */
export const APPLICATION_NETWORKS = { applications: '10.62.0.', 'more-applications': '10.65.0.' } as const;
const SUBNETS = Object.keys(APPLICATION_NETWORKS) as (keyof typeof APPLICATION_NETWORKS)[];

const SUBNET = 'ipam.spidernet.io/subnet';
const NUMBER = 'ipam.spidernet.io/ippool-ip-number';
export const RECLAIM = 'ipam.spidernet.io/ippool-reclaim';
const NUMBERS = ['+0', '+1', '+2'];
const TYPOS = [{ [SUBNET]: '{"ipv4":["applications"' }, { [SUBNET]: '{"ipv4":[]}' }, { [NUMBER]: 'three' }];

/** Annotations of a template. */
export type Ask = Readonly<Record<string, string>>;

export function isOfApplication(address: string): boolean {
  return Object.values(APPLICATION_NETWORKS).some((network) => address.startsWith(network));
}

export function askForAddresses(random: Random, { keepsPool }: { readonly keepsPool: boolean }): Ask {
  return {
    [SUBNET]: naming(random.pick(SUBNETS)),
    [NUMBER]: random.pick(NUMBERS),
    ...(keepsPool ? { [RECLAIM]: 'false' } : {}),
  };
}

/** What a user does to it: one with a typo is repaired or moved, another one moved or broken, or it wants more or less. */
export function changeAsk(ask: Ask, random: Random): { readonly what: string; readonly ask: Ask } {
  if (isFaulty(ask) && random.isOneIn(2)) return { what: 'repair', ask: repairAsk(ask) };
  const chance = random.below(3);
  if (chance === 0 && !isFaulty(ask)) return { what: 'break', ask: { ...ask, ...random.pick(TYPOS) } };
  if (chance === 1) return { what: 'resize', ask: { ...ask, [NUMBER]: random.pick(NUMBERS) } };
  const others = SUBNETS.filter((subnet) => subnet !== subnetOf(ask));
  return { what: 'move', ask: { ...ask, [SUBNET]: naming(random.pick(others)) } };
}

export function repairAsk(ask: Ask): Ask {
  const [first = ''] = SUBNETS;
  const number = NUMBERS.includes(ask[NUMBER] ?? '') ? {} : { [NUMBER]: '+1' };
  return { ...ask, ...number, [SUBNET]: naming(subnetOf(ask) ?? first) };
}

export function isAsking(ask: Ask): boolean {
  return ask[SUBNET] !== undefined;
}

export function isFaulty(ask: Ask): boolean {
  return isAsking(ask) && (subnetOf(ask) === null || !NUMBERS.includes(ask[NUMBER] ?? ''));
}

/** The subnet that it names; null if none can be read. */
export function subnetOf(ask: Ask): string | null {
  return SUBNETS.find((subnet) => ask[SUBNET] === naming(subnet)) ?? null;
}

export function isSameAsk(a: Ask, b: Ask): boolean {
  return [SUBNET, NUMBER, RECLAIM].every((key) => a[key] === b[key]);
}

/** Those of the template of an owner, or of a pod itself. */
export function askOf({ metadata, spec }: ApiObject): Ask {
  const template = spec?.['template'] as Pick<ApiObject, 'metadata'> | undefined;
  return (template === undefined ? metadata.annotations : template.metadata.annotations) ?? {};
}

function naming(subnet: string): string {
  return JSON.stringify({ ipv4: [subnet] });
}
