import { cidrLabel, POOL_CIDR_LABEL } from '#pkg/crd/cidr-label.ts';
import type { Cidr } from '#pkg/ip/cidr.ts';
import { POD_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import { AUTO_POOL_LABELS, type AutoPoolKey, autoPoolMismatch } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Labels } from '#pkg/pool/request.ts';
import { formatIpNumber, type IpNumber } from '#pkg/pool/subnet-wish.ts';
import { toLabelValue } from '#pkg/record/record-metadata.ts';

/**
 * `own`: made for this application, interface, family and subnet. `earlier`: made for an application of the same kind and name that
 * had another uid. `other`: anything else, also a pool that was not made for an application.
 */
export type PoolRelation = 'own' | 'earlier' | 'other';

/** Agent and controller both ask this. The application is compared by its whole name, which a label may not hold. */
export function relationTo(pool: Pick<Pool, 'auto' | 'podAffinity' | 'family'>, key: AutoPoolKey): PoolRelation {
  const { auto, podAffinity, family } = pool;
  if (auto === null || podAffinity === null || family !== key.family) return 'other';
  if (auto.subnet !== toLabelValue(key.subnet) || auto.interface !== toLabelValue(key.interface)) return 'other';
  if (autoPoolMismatch(podAffinity.matchLabels, key.application) !== null) return 'other';
  return auto.applicationUid === key.application.uid ? 'own' : 'earlier';
}

export function autoPoolLabels(key: AutoPoolKey, more: { readonly reclaim: boolean; readonly cidr: Cidr }): Labels {
  const { application, subnet, family } = key;
  const cidr = cidrLabel(more.cidr);
  return {
    [AUTO_POOL_LABELS.subnet]: toLabelValue(subnet),
    [AUTO_POOL_LABELS.groupVersion]: toLabelValue(application.apiVersion.replace('/', '_')),
    [AUTO_POOL_LABELS.kind]: toLabelValue(application.kind),
    [AUTO_POOL_LABELS.namespace]: toLabelValue(application.namespace),
    [AUTO_POOL_LABELS.name]: toLabelValue(application.name),
    [AUTO_POOL_LABELS.uid]: application.uid,
    [AUTO_POOL_LABELS.interface]: toLabelValue(key.interface),
    [AUTO_POOL_LABELS.ipVersion]: `IPv${family}`,
    [AUTO_POOL_LABELS.reclaim]: String(more.reclaim),
    ...(cidr === null ? {} : { [POOL_CIDR_LABEL]: cidr }),
  };
}

export function autoPoolAnnotations(number: IpNumber): Labels {
  return { [POD_ANNOTATIONS.ipNumber]: formatIpNumber(number) };
}
