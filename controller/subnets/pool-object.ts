import type { Wanted } from '#controller/allot/subnet-situation.ts';
import { ownedBySubnet } from '#controller/lifecycle/adopt-pool.ts';
import { autoPoolAnnotations, autoPoolLabels } from '#pkg/autopool/identity.ts';
import { DOMAIN_ANNOTATION } from '#pkg/crd/decode-domain.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { formatCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange, parseRange } from '#pkg/ip/range.ts';
import { isMap, type KubeObject, type NewObject, type SeenObject } from '#pkg/kube/objects/kube-object.ts';
import { FINALIZER } from '#pkg/kube/objects/spider-resources.ts';
import { applicationAffinity } from '#pkg/pool/auto-pool.ts';
import { DEFAULT_DOMAIN } from '#pkg/record/record-metadata.ts';

/** What a pool lost a moment ago: `{"at":"…","ips":["…"]}`. It goes to no other pool for a minute. */
const DROPPED_RANGES = 'ipledger.io/dropped-ranges';
const DROPPED_FOR_MS = 60_000;
/** A thousand IPv6 ranges have 82 kB; all annotations together have at most 256 KiB. */
const LONGEST_NOTE = 192 * 1024;

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

/** The pool with other addresses and marks; everything else of it stays. `excludeIPs` goes: what the pool has is in `ips` alone. */
export function changedPoolObject(
  pool: KubeObject,
  {
    wanted,
    addresses,
    dropped,
  }: { readonly wanted: Wanted; readonly addresses: IntervalSet; readonly dropped: IntervalSet },
  { subnet, now }: { readonly subnet: SpiderSubnet; readonly now: Date },
): SeenObject {
  const { status: _, ...rest } = pool;
  const { excludeIPs: __, ...spec } = isMap(pool['spec']) ? pool['spec'] : {};
  const { [DROPPED_RANGES]: ___, ...annotations } = pool.metadata.annotations ?? {};
  const note = dropped.isEmpty
    ? {}
    : { [DROPPED_RANGES]: JSON.stringify({ at: now.toISOString(), ips: toRanges(subnet, dropped) }) };
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

/** What the pool dropped in the last minute, and for how long that still counts. A note that cannot be read counts as none. */
export function readDropped(pool: KubeObject, now: Date): { readonly addresses: IntervalSet; readonly forMs: number } {
  const none = { addresses: IntervalSet.EMPTY, forMs: 0 };
  const note = pool.metadata.annotations?.[DROPPED_RANGES];
  if (note === undefined || note.length > LONGEST_NOTE) return none;
  try {
    const { at, ips } = JSON.parse(note) as { at: string; ips: string[] };
    const forMs = Date.parse(at) + DROPPED_FOR_MS - now.getTime();
    // The clock of the leader that wrote it may be ahead, but not by much.
    if (!(forMs > 0 && forMs <= 2 * DROPPED_FOR_MS)) return none;
    return { addresses: IntervalSet.of(ips.map(parseRange)), forMs };
  } catch {
    return none;
  }
}

function toRanges({ family }: SpiderSubnet, addresses: IntervalSet): string[] {
  return addresses.intervals().map((interval) => formatRange(family, interval));
}
