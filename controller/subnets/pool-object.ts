import type { Wanted } from '#controller/allot/subnet-situation.ts';
import { ownedBySubnet } from '#controller/lifecycle/adopt-pool.ts';
import { autoPoolAnnotations, autoPoolLabels } from '#pkg/autopool/identity.ts';
import { DOMAIN_ANNOTATION } from '#pkg/crd/decode-domain.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { formatCidr } from '#pkg/ip/cidr.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { isMap, type KubeObject, type NewObject, type SeenObject } from '#pkg/kube/objects/kube-object.ts';
import { FINALIZER } from '#pkg/kube/objects/spider-resources.ts';
import { applicationAffinity } from '#pkg/pool/auto-pool.ts';
import { DEFAULT_DOMAIN } from '#pkg/record/record-metadata.ts';
import { DROPPED_RANGES, nextDropped } from './dropped-ranges.ts';

interface SubnetWithObject {
  readonly subnet: SpiderSubnet;
  readonly object: KubeObject;
}

/** Identity and spec as Spiderpool makes them: gateway and routes are those of the subnet at this moment. */
export function newPoolObject(name: string, wanted: Wanted, addresses: IntervalSet, of: SubnetWithObject): NewObject {
  const { subnet, object } = of;
  const spec = isMap(object['spec']) ? object['spec'] : {};
  const { gateway, routes } = spec;
  return ownedBySubnet(
    {
      metadata: {
        name,
        labels: autoPoolLabels(wanted.key, { reclaim: wanted.reclaim, cidr: subnet.subnet }),
        annotations: {
          ...autoPoolAnnotations(wanted.number),
          ...(subnet.domain === DEFAULT_DOMAIN ? {} : { [DOMAIN_ANNOTATION]: subnet.domain }),
        },
        finalizers: [FINALIZER],
      },
      spec: {
        ipVersion: subnet.family,
        subnet: formatCidr(subnet.subnet),
        ips: toRanges(subnet, addresses),
        ...(gateway === undefined ? {} : { gateway }),
        ...(routes === undefined ? {} : { routes }),
        podAffinity: { matchLabels: applicationAffinity(wanted.key.application) },
      },
    },
    subnet,
  );
}

/** The pool with other addresses and marks, and a note of what it lost; everything else of it stays. `excludeIPs` goes: what the pool has is in `ips` alone. */
export function changedPoolObject(
  pool: KubeObject,
  { wanted, addresses, lost }: { readonly wanted: Wanted; readonly addresses: IntervalSet; readonly lost: IntervalSet },
  { subnet, now }: { readonly subnet: SpiderSubnet; readonly now: Date },
): SeenObject {
  const { status: _, ...rest } = pool;
  const { excludeIPs: __, ...spec } = isMap(pool['spec']) ? pool['spec'] : {};
  const { [DROPPED_RANGES]: ___, ...annotations } = pool.metadata.annotations ?? {};
  const dropped = nextDropped(pool, { lost, addresses }, { family: subnet.family, now });
  const note = dropped === null ? {} : { [DROPPED_RANGES]: dropped };
  return {
    ...rest,
    metadata: {
      ...pool.metadata,
      labels: {
        ...pool.metadata.labels,
        ...autoPoolLabels(wanted.key, { reclaim: wanted.reclaim, cidr: subnet.subnet }),
      },
      annotations: { ...annotations, ...autoPoolAnnotations(wanted.number), ...note },
    },
    spec: { ...spec, ips: toRanges(subnet, addresses) },
  };
}

function toRanges({ family }: SpiderSubnet, addresses: IntervalSet): string[] {
  return addresses.intervals().map((interval) => formatRange(family, interval));
}
