import type { Wanted } from '#controller/allot/subnet-situation.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { type IpNumber, parseNicSubnets, parseSubnetWish } from '#pkg/pool/subnet-wish.ts';

export interface WishRules {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  readonly clusterSubnetAutoPoolDefaultRedundantIPNumber: number;
}

/** What one application asks of subnets. */
export interface AskingApplication {
  readonly application: Controller;
  /** What it wants, by interface and family. Empty where `fault` says why that is not known. */
  readonly wanted: readonly Wanted[];
  readonly fault: string | null;
  /** The subnets that it names, also where the rest cannot be read. */
  readonly subnets: ReadonlySet<string>;
}

/** `replicas` is null where it is unknown how many pods there will be. */
export function readApplication(
  application: Controller,
  given: { readonly annotations: Labels; readonly replicas: number | null },
  rules: WishRules,
): AskingApplication {
  const known = { application, subnets: namedSubnets(given.annotations) };
  try {
    return { ...known, wanted: readWanted(application, given, rules), fault: null };
  } catch (thrown) {
    return { ...known, wanted: [], fault: toIpamError(thrown).message };
  }
}

function readWanted(
  application: Controller,
  { annotations, replicas }: { readonly annotations: Labels; readonly replicas: number | null },
  rules: WishRules,
): readonly Wanted[] {
  const wish = parseSubnetWish(annotations)?.value;
  if (wish === undefined) return [];
  const { clusterSubnetAutoPoolDefaultRedundantIPNumber: beyond } = rules;
  const number: IpNumber = wish.number ?? { kind: 'beyond-replicas', count: beyond };
  if (number.kind === 'beyond-replicas' && replicas === null) {
    throw new Error(
      `it is unknown how many pods a ${application.kind} has: write the annotation ipam.spidernet.io/ippool-ip-number with a fixed number, such as "5"`,
    );
  }
  const count = number.count + (number.kind === 'fixed' ? 0 : (replicas ?? 0));
  return wish.nics.flatMap(({ interface: nic, v4, v6 }) => {
    const families = [[4, rules.enableIPv4 ? v4 : null] as const, [6, rules.enableIPv6 ? v6 : null] as const];
    return families.flatMap(([family, subnet]): Wanted[] => {
      if (subnet === null) return [];
      const key: AutoPoolKey = { subnet, application, interface: nic, family };
      return [{ key, count, number, reclaim: wish.reclaim }];
    });
  });
}

/** None where that cannot be read. */
export function namedSubnets(annotations: Labels): ReadonlySet<string> {
  try {
    const nics = parseNicSubnets(annotations)?.value ?? [];
    return new Set(nics.flatMap(({ v4, v6 }) => [v4, v6].filter((name) => name !== null)));
  } catch {
    return new Set();
  }
}
