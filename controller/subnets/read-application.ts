import { quote } from '#pkg/ip/quote.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import type { ServedKind } from '#pkg/kube/objects/served-kinds.ts';
import type { Controller } from '#pkg/pool/request.ts';

/** It proves nothing about the application. `missingRight`: what the controller would have to be allowed. */
export interface Unread {
  readonly is: 'unknown';
  readonly because: string;
  readonly missingRight?: string;
}

/**
 * `there`: it exists with that uid. `gone`: the API server names it as missing, or it has another uid. `unknown`: anything else, also
 * a kind that is not served: it proves nothing.
 */
export type ApplicationReading =
  | { readonly is: 'there'; readonly object: KubeObject; readonly kind: ServedKind }
  | { readonly is: 'gone' }
  | Unread;

/** Kinds come and go with their CRDs. */
const KINDS_FOR_MS = 60_000;
const MOST_GROUPS = 200;
const API_VERSION = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const TIMEOUT_MS = 5_000;

/** Reads applications of any kind, never from a cache. */
export class ApplicationReader {
  readonly #client: KubeClient;
  readonly #kinds = new Map<string, { readonly readAtMs: number; readonly kinds: readonly ServedKind[] }>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async read(application: Controller): Promise<ApplicationReading> {
    const { apiVersion, kind, namespace, name, uid } = application;
    // A tenant writes it, and it becomes a part of the path.
    if (!API_VERSION.test(apiVersion)) return { is: 'unknown', because: `${quote(apiVersion)} is no apiVersion` };
    const kinds = await this.#kindsOf(apiVersion);
    if ('because' in kinds) return { is: 'unknown', because: `${apiVersion} cannot be read: ${kinds.message}` };
    const served = kinds.find(({ resource, isNamespaced }) => resource.kind === kind && isNamespaced);
    if (served === undefined) return { is: 'unknown', because: `the API server serves no ${kind} of ${apiVersion}` };
    const found = await this.#client.get(served.resource, { namespace, name }, { timeoutMs: TIMEOUT_MS });
    if (found.ok)
      return found.object.metadata.uid === uid ? { is: 'there', object: found.object, kind: served } : { is: 'gone' };
    if (found.because === 'NotFound') return { is: 'gone' };
    return unread(found, `${kind} ${namespace}/${name}`, served.resource);
  }

  /** How many pods it wants; null where its kind does not say. */
  async replicasOf(application: Controller, { resource, hasScale }: ServedKind): Promise<number | null | Unread> {
    if (!hasScale) return null;
    const { kind, namespace, name } = application;
    const options = { subresource: 'scale', timeoutMs: TIMEOUT_MS } as const;
    const scale = await this.#client.get(resource, { namespace, name }, options);
    if (scale.ok) return readReplicas(scale.object['spec']);
    if (scale.because === 'NotFound' || scale.because === 'NotServed') return null;
    return unread(scale, `the scale of ${kind} ${namespace}/${name}`, resource, '/scale');
  }

  async #kindsOf(apiVersion: string): Promise<readonly ServedKind[] | Failure> {
    const known = this.#kinds.get(apiVersion);
    const nowMs = this.#client.timing.nowMs();
    if (known !== undefined && nowMs - known.readAtMs < KINDS_FOR_MS) return known.kinds;
    const slash = apiVersion.indexOf('/');
    const group = apiVersion.slice(0, Math.max(slash, 0));
    const found = await this.#client.kindsOf(
      { group, version: apiVersion.slice(slash + 1) },
      { timeoutMs: TIMEOUT_MS },
    );
    if (!found.ok) return found;
    // A tenant may name any group, so the map is bounded.
    if (this.#kinds.size >= MOST_GROUPS) this.#kinds.clear();
    this.#kinds.set(apiVersion, { readAtMs: nowMs, kinds: found.object });
    return found.object;
  }
}

function unread({ because, message }: Failure, what: string, { group, plural }: Resource, subresource = ''): Unread {
  const unknown = { is: 'unknown', because: `${what} cannot be read: ${message}` } as const;
  if (because !== 'Forbidden') return unknown;
  return { ...unknown, missingRight: `get ${plural}${subresource}${group === '' ? '' : ` in the API group ${group}`}` };
}

function readReplicas(spec: unknown): number {
  const replicas = isMap(spec) ? spec['replicas'] : undefined;
  return typeof replicas === 'number' && replicas > 0 ? replicas : 0;
}
