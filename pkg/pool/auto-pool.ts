import type { Family } from '#pkg/ip/address.ts';
import { listSome } from '#pkg/text/text-list.ts';
import type { Controller, Labels } from './request.ts';

/** What a pool that was made for one application is found by, as Spiderpool writes it. */
export const AUTO_POOL_LABELS = {
  subnet: 'ipam.spidernet.io/owner-spider-subnet',
  groupVersion: 'ipam.spidernet.io/owner-application-gv',
  kind: 'ipam.spidernet.io/owner-application-kind',
  namespace: 'ipam.spidernet.io/owner-application-namespace',
  /** A pool with this label is an auto pool. */
  name: 'ipam.spidernet.io/owner-application-name',
  uid: 'ipam.spidernet.io/owner-application-uid',
  interface: 'ipam.spidernet.io/interface',
  ipVersion: 'ipam.spidernet.io/ip-version',
  reclaim: 'ipam.spidernet.io/ippool-reclaim',
} as const;

/** Which auto pool: there is at most one for it. */
export interface AutoPoolKey {
  readonly subnet: string;
  readonly application: Controller;
  readonly interface: string;
  readonly family: Family;
}

/** Null when the pool was made for this controller. */
export function autoPoolMismatch(podAffinity: Labels, controller: Controller | null): string | null {
  if (controller === null) return 'it was made for one application, the pod has no controller';
  const differing = Object.entries(applicationAffinity(controller)).filter(
    ([key, value]) => podAffinity[key] !== value,
  );
  if (differing.length === 0) return null;
  const parts = differing.map(([key, value]) => `${key} is "${podAffinity[key] ?? ''}" and not "${value}"`);
  return `it was made for another application: ${listSome(parts, 5)}`;
}

/** What the `podAffinity` of a pool made for one application says of its top controller: these keys are not labels of pods. */
export function applicationAffinity(application: Omit<Controller, 'uid'>): Labels {
  const slash = application.apiVersion.indexOf('/');
  return {
    'ipam.spidernet.io/app-api-group': application.apiVersion.slice(0, Math.max(slash, 0)), // none for the core group: `v1`
    'ipam.spidernet.io/app-api-version': application.apiVersion.slice(slash + 1),
    'ipam.spidernet.io/app-kind': application.kind,
    'ipam.spidernet.io/app-namespace': application.namespace,
    'ipam.spidernet.io/app-name': application.name,
  };
}

/** The application that `applicationAffinity` was written for; null where one of its keys is missing. */
export function affinityApplication(podAffinity: Labels): Omit<Controller, 'uid'> | null {
  const [group, version, kind, namespace, name] = ['api-group', 'api-version', 'kind', 'namespace', 'name'].map(
    (part) => podAffinity[`ipam.spidernet.io/app-${part}`],
  );
  if (group === undefined || !version || !kind || !namespace || !name) return null;
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, namespace, name };
}
