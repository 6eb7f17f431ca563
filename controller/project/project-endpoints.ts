import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import type { KubeObject, ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { ENDPOINTS } from '#pkg/kube/objects/spider-resources.ts';
import type { EndpointsView } from './endpoints-view.ts';
import {
  applyChange,
  type EndpointChange,
  type EndpointFacts,
  type EndpointRules,
  type EndpointStep,
  planEndpoint,
} from './plan-endpoint.ts';
import type { PodsView } from './pods-view.ts';
import type { RecordsView } from './records-view.ts';
import { type SeenEndpoint, toSeenEndpoint } from './seen-endpoint.ts';

export interface ProjectEndpointsOptions extends ReconcilerContext {
  readonly records: RecordsView;
  readonly endpoints: EndpointsView;
  readonly pods: PodsView;
  readonly rules: EndpointRules;
  readonly debounceMs?: number;
}

/** Long enough for the records of all families and interfaces of one pod to arrive. */
const DEBOUNCE_MS = 300;
const WORKERS = 8;

/** Keeps a SpiderEndpoint for every pod and VMI that holds an address, and none for others. */
export function projectEndpoints(options: ProjectEndpointsOptions): AsyncDisposable {
  const { client, records, endpoints, pods, rules, debounceMs = DEBOUNCE_MS } = options;

  const look = (namespace: string, name: string): EndpointFacts => {
    const virtual = records.ofHolder({ kind: 'VirtualMachineInstance', namespace, name });
    return {
      namespace,
      name,
      records: virtual.length > 0 ? virtual : records.ofHolder({ kind: 'Pod', namespace, name }),
      pod: pods.find(namespace, name),
      existing: endpoints.get(namespace, name),
    };
  };

  /** An update reads the whole object first: the cache has only what is decided by. It is rare. */
  const update = async (at: ObjectName, seen: SeenEndpoint, change: EndpointChange): Promise<Outcome<KubeObject>> => {
    const found = await client.get(ENDPOINTS, at);
    if (!found.ok) return found;
    const { uid, resourceVersion } = found.object.metadata;
    if (uid !== seen.uid || resourceVersion !== seen.resourceVersion) return failure('Conflict', 'it has changed');
    return client.update(ENDPOINTS, applyChange(found.object, change));
  };

  const apply = (
    step: EndpointStep,
    at: ObjectName,
    left: SeenEndpoint | null,
  ): Promise<Outcome<KubeObject | null>> => {
    if (step.do === 'create') return client.create(ENDPOINTS, step.object);
    if (left === null) throw new Error(`there is no endpoint to ${step.do}`);
    return step.do === 'update' ? update(at, left, step.change) : client.delete(ENDPOINTS, { ...at, ...left });
  };

  return startReconciler(options, {
    kind: 'endpoint',
    failed: 'endpoint not reconciled',
    debounceMs,
    workers: WORKERS,
    caches: [records, endpoints, pods],
    watch: (enqueue) => {
      const touch = ({ namespace = '', name }: ObjectName) => enqueue(`${namespace}/${name}`);
      return [
        records.onChange(({ before, after }) => {
          for (const record of [before, after]) if (record !== null) touch(record.spec.holder);
        }),
        endpoints.onChange(touch),
        pods.onChange(touch),
      ];
    },
    existing: function* () {
      for (const { spec } of records.all()) yield `${spec.holder.namespace}/${spec.holder.name}`;
      yield* endpoints.keys();
    },
    reconcile: async (key, { write }) => {
      const [namespace = '', name = ''] = key.split('/');
      const facts = look(namespace, name);
      let left = facts.existing;
      for (const step of planEndpoint(facts, rules)) {
        const written = await write(`${step.do} endpoint ${key}`, () => apply(step, { namespace, name }, left));
        if (!('object' in written)) return written.requeueMs;
        left = written.object === null ? null : toSeenEndpoint(written.object);
      }
      return undefined;
    },
  });
}
