import { listSome } from '#pkg/text/text-list.ts';
import type { Controller, Labels } from './request.ts';

/** Null when the pool was made for this controller. */
export function autoPoolMismatch(podAffinity: Labels, controller: Controller | null): string | null {
  if (controller === null) return 'it was made for one application, the pod has no controller';
  const differing = Object.entries(applicationLabels(controller)).filter(([key, value]) => podAffinity[key] !== value);
  if (differing.length === 0) return null;
  const parts = differing.map(([key, value]) => `${key} is "${podAffinity[key] ?? ''}" and not "${value}"`);
  return `it was made for another application: ${listSome(parts, 5)}`;
}

/** What the `podAffinity` of a pool made for one application says of its top controller: these keys are not labels of pods. */
function applicationLabels(controller: Controller): Labels {
  const slash = controller.apiVersion.indexOf('/');
  return {
    'ipam.spidernet.io/app-api-group': controller.apiVersion.slice(0, Math.max(slash, 0)), // none for the core group: `v1`
    'ipam.spidernet.io/app-api-version': controller.apiVersion.slice(slash + 1),
    'ipam.spidernet.io/app-kind': controller.kind,
    'ipam.spidernet.io/app-namespace': controller.namespace,
    'ipam.spidernet.io/app-name': controller.name,
  };
}
