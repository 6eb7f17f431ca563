import { isDeepStrictEqual } from 'node:util';
import { ownerMarks, type StoredSubnet, withInherited } from '#controller/lifecycle/adopt-pool.ts';
import { cidrLabel, POOL_CIDR_LABEL, SUBNET_CIDR_LABEL } from '#pkg/crd/cidr-label.ts';
import { decodeDomain } from '#pkg/crd/decode-domain.ts';
import { decodeSubnet } from '#pkg/crd/decode-network.ts';
import { type Cidr, formatCidr } from '#pkg/ip/cidr.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { FINALIZER } from '#pkg/kube/objects/spider-resources.ts';
import { isBeingDeleted, metadataOf, specOf } from './judge-change.ts';
import { mergeRanges } from './merge-ranges.ts';
import type { ReviewFields } from './review.ts';
import type { JsonPatchStep } from './verdict.ts';

/** Mutation never refuses: what cannot be read is left as it is, and validation refuses it with the reason. `subnets` is null where the feature is off. */
export function mutatePool(object: ReviewFields, subnets: readonly StoredSubnet[] | null): JsonPatchStep[] {
  if (isBeingDeleted(object)) return [];
  const subnet = tryRead(() => decodeSubnet(specOf(object)['subnet'], 'spec.subnet'));
  const owner = subnet === null || subnets === null ? null : findOwner(object, subnet, subnets);
  const upkept = keepNetwork(object, subnet, POOL_CIDR_LABEL);
  return difference(object, owner === null ? upkept : adopt(upkept, owner));
}

export function mutateSubnet(object: ReviewFields): JsonPatchStep[] {
  if (isBeingDeleted(object)) return [];
  const subnet = tryRead(() => decodeSubnet(specOf(object)['subnet'], 'spec.subnet'));
  return difference(object, keepNetwork(object, subnet, SUBNET_CIDR_LABEL));
}

export function mutateReservedIp(object: ReviewFields): JsonPatchStep[] {
  const spec = specOf(object);
  const { ips } = spec;
  const first: unknown = Array.isArray(ips) ? ips[0] : undefined;
  if (isBeingDeleted(object) || typeof first !== 'string') return [];
  const family = tryRead(() => parseRange(first).family);
  const ipVersion = spec['ipVersion'] ?? family;
  const next = { ...spec, ...(ipVersion === null ? {} : { ipVersion }), ips: mergeRanges(ips) ?? ips };
  return difference(object, { ...object, spec: next });
}

function keepNetwork(object: ReviewFields, subnet: Cidr | null, labelKey: string): ReviewFields {
  const metadata = metadataOf(object);
  const spec = specOf(object);
  const finalizers: unknown[] = Array.isArray(metadata['finalizers']) ? metadata['finalizers'] : [];
  const label = subnet === null ? null : cidrLabel(subnet);
  const version = spec['ipVersion'] ?? subnet?.family;
  const [ips, excludeIPs] = [mergeRanges(spec['ips']), mergeRanges(spec['excludeIPs'])];
  return {
    ...object,
    metadata: {
      ...metadata,
      finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
      ...(label === null ? {} : { labels: { ...fieldsOf(metadata['labels']), [labelKey]: label } }),
    },
    spec: {
      ...spec,
      ...(version === undefined ? {} : { ipVersion: version }),
      ...(ips === null ? {} : { ips }),
      ...(excludeIPs === null ? {} : { excludeIPs }),
    },
  };
}

/** The subnet of the same network, if the pool has no other controller yet. */
function findOwner(object: ReviewFields, subnet: Cidr, subnets: readonly StoredSubnet[]): StoredSubnet | null {
  const { ownerReferences, annotations } = metadataOf(object);
  const owners: unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
  if (owners.some((owner) => isMap(owner) && owner['controller'] === true)) return null;
  const domain = tryRead(() => decodeDomain(fieldsOf(annotations)));
  const isOwner = (candidate: StoredSubnet) =>
    !candidate.isTerminating && candidate.domain === domain && formatCidr(candidate.subnet) === formatCidr(subnet);
  return subnets.find(isOwner) ?? null;
}

function adopt(object: ReviewFields, subnet: StoredSubnet): ReviewFields {
  const metadata = metadataOf(object);
  return {
    ...object,
    metadata: { ...metadata, ...ownerMarks(metadata, subnet) },
    spec: withInherited(specOf(object), specOf(subnet.object)),
  };
}

/** Whole members of metadata and spec; `add` replaces one that is there. */
function difference(before: ReviewFields, after: ReviewFields): JsonPatchStep[] {
  return (['metadata', 'spec'] as const).flatMap((part) => {
    const [old, next] = [fieldsOf(before[part]), fieldsOf(after[part])];
    return Object.entries(next)
      .filter(([field, value]) => !isDeepStrictEqual(old[field], value))
      .map(([field, value]) => ({ op: 'add' as const, path: `/${part}/${field}`, value }));
  });
}

function fieldsOf(value: unknown): ReviewFields {
  return isMap(value) ? value : {};
}

function tryRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
