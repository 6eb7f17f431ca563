import type { FreshObjects } from '#controller/give/fresh-objects.ts';
import { FailedRequest } from '#controller/reconcile/reconciler.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { NETWORK_CONFIGURATIONS } from '#pkg/kube/objects/vitistack-resources.ts';

const MOST = 100_000;

/** For how long NetworkConfigurations have been gone: by reads of the API server, because a watch may be late or have lost its place. */
export class GoneConfigurations {
  readonly #client: KubeClient;
  readonly #configurations: FreshObjects;
  readonly #sinceMs = new Map<string, number>();

  constructor(client: KubeClient, configurations: FreshObjects) {
    this.#client = client;
    this.#configurations = configurations;
  }

  find(at: ObjectName): KubeObject | null {
    const object = this.#configurations.get(at);
    if (object !== null) this.#sinceMs.delete(keyOf(at));
    return object;
  }

  /** Null: it is there, or it was not looked up. */
  goneMs(at: ObjectName): number | null {
    const sinceMs = this.find(at) === null ? this.#sinceMs.get(keyOf(at)) : undefined;
    return sinceMs === undefined ? null : this.#client.timing.nowMs() - sinceMs;
  }

  /** Reads it now. Whether it is gone. */
  async look(at: ObjectName): Promise<boolean> {
    const atMs = this.#client.timing.nowMs();
    const cached = this.#configurations.get(at);
    const found = await this.#client.get(NETWORK_CONFIGURATIONS, at);
    const key = keyOf(at);
    if (found.ok) {
      this.#configurations.wrote(found.object);
      this.#sinceMs.delete(key);
      return false;
    }
    if (found.because !== 'NotFound') throw new FailedRequest(`NetworkConfiguration ${key}`, found);
    if (cached !== null) this.#configurations.deleted({ ...at, uid: cached.metadata.uid });
    if (this.#sinceMs.size >= MOST) this.#sinceMs.clear();
    if (!this.#sinceMs.has(key)) this.#sinceMs.set(key, atMs);
    return true;
  }
}
