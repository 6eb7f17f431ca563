import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { NamespacedMap } from '#pkg/kube/objects/namespaced-map.ts';
import { ENDPOINTS } from '#pkg/kube/objects/spider-resources.ts';
import { Reflector, type Trouble } from '#pkg/kube/watch/reflector.ts';
import { type SeenEndpoint, toSeenEndpoint } from './seen-endpoint.ts';

/** A cache of all endpoints, fed by a watch, with the little that is decided by. */
export interface EndpointsView extends AsyncDisposable {
  readonly synced: Promise<void>;
  get(namespace: string, name: string): SeenEndpoint | null;
  /** `namespace/name` of each. */
  keys(): Iterable<string>;
  onChange(listener: (at: ObjectName) => void): Disposable;
}

export function watchEndpoints(client: KubeClient, onTrouble: (trouble: Trouble) => void): EndpointsView {
  const endpoints = new NamespacedMap<SeenEndpoint>();
  const listeners = new Listeners<ObjectName>();
  const reflector = new Reflector(client, {
    resource: ENDPOINTS,
    onTrouble,
    onEvent: (event) => {
      if (event.type === 'Synced') return;
      const { namespace = '', name } = event.type === 'Deleted' ? event.identity : event.object.metadata;
      if (event.type === 'Deleted') endpoints.delete(namespace, name);
      else endpoints.set(namespace, name, toSeenEndpoint(event.object));
      listeners.tell({ namespace, name });
    },
  });
  return {
    synced: reflector.synced,
    get: (namespace, name) => endpoints.get(namespace, name) ?? null,
    keys: function* () {
      for (const [namespace, name] of endpoints.entries()) yield `${namespace}/${name}`;
    },
    onChange: (listener) => listeners.add(listener),
    [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
  };
}
