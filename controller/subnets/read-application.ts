import { quote } from '#pkg/ip/quote.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Failure, Outcome } from '#pkg/kube/objects/outcome.ts';
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
/** Hundreds of applications may be of a kind whose CRD was removed, or whose API server does not answer. */
const FAILED_FOR_MS = 5_000;
const MOST_GROUPS = 200;
const API_VERSION = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const TIMEOUT_MS = 5_000;

/** Reads applications of any kind, never from a cache. */
export class ApplicationReader {
  readonly #client: KubeClient;
  readonly #kinds = new Map<string, { untilMs: number; readonly answer: Promise<Outcome<readonly ServedKind[]>> }>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async read(application: Controller): Promise<ApplicationReading> {
    const { apiVersion, kind, namespace, name, uid } = application;
    // A tenant writes it, and it becomes a part of the path.
    if (!API_VERSION.test(apiVersion)) return { is: 'unknown', because: `${quote(apiVersion)} is no apiVersion` };
    const kinds = await this.#kindsOf(apiVersion);
    if (!kinds.ok) return { is: 'unknown', because: `${apiVersion} cannot be read: ${kinds.message}` };
    const served = kinds.object.find(({ resource, isNamespaced }) => resource.kind === kind && isNamespaced);
    if (served === undefined) return { is: 'unknown', because: `the API server serves no ${kind} of ${apiVersion}` };
    const found = await this.#client.get(served.resource, { namespace, name }, { timeoutMs: TIMEOUT_MS });
    if (found.ok)
      return found.object.metadata.uid === uid ? { is: 'there', object: found.object, kind: served } : { is: 'gone' };
    if (found.because === 'NotFound') return { is: 'gone' };
    if (found.because === 'Unknown') this.#remember(apiVersion, Promise.resolve(found), FAILED_FOR_MS);
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

  async #kindsOf(apiVersion: string): Promise<Outcome<readonly ServedKind[]>> {
    const nowMs = () => this.#client.timing.nowMs();
    const known = this.#kinds.get(apiVersion);
    if (known !== undefined && nowMs() < known.untilMs) return known.answer;
    const slash = apiVersion.indexOf('/');
    const group = apiVersion.slice(0, Math.max(slash, 0));
    const kind = { group, version: apiVersion.slice(slash + 1) };
    const entry = this.#remember(apiVersion, this.#client.kindsOf(kind, { timeoutMs: TIMEOUT_MS }), KINDS_FOR_MS);
    const found = await entry.answer;
    if (!found.ok) entry.untilMs = nowMs() + FAILED_FOR_MS;
    return found;
  }

  #remember(apiVersion: string, answer: Promise<Outcome<readonly ServedKind[]>>, forMs: number) {
    const entry = { untilMs: this.#client.timing.nowMs() + forMs, answer };
    // A tenant may name any group, so the map is bounded.
    if (this.#kinds.size >= MOST_GROUPS) this.#kinds.clear();
    this.#kinds.set(apiVersion, entry);
    return entry;
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
