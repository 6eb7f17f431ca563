import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';

/** Why the object does not count. Throws where the API server did not say that it is missing. */
export function absence(
  { kind }: Resource,
  { namespace = '', name }: { readonly namespace?: string; readonly name: string },
  { because, message }: Failure,
): string {
  const what = `${kind} ${namespace}/${name}`;
  if (because === 'NotFound') return `there is no ${what}`;
  if (because === 'NotServed') return `the API server does not serve ${what}`;
  const hint = because === 'Forbidden' ? '; is the role of the agents (deploy/rbac.yaml) up to date?' : '';
  throw new IpamError('api-server-unavailable', `cannot verify ${what}, which the pod names: ${message}${hint}`);
}

/** Anything else would be another path of the API. */
export function isObjectName(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(text);
}
