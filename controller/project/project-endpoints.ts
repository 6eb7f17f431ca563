import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import type { KubeObject, ObjectName } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { ENDPOINTS } from '#pkg/kube/objects/spider-resources.ts';
import { type EndpointFacts, type EndpointRules, type EndpointStep, planEndpoint } from './plan-endpoint.ts';
import type { PodsView } from './pods-view.ts';
import type { RecordsView } from './records-view.ts';

export interface ProjectEndpointsOptions extends ReconcilerContext {
  readonly records: RecordsView;
  readonly endpoints: ObjectView;
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
      existing: endpoints.get({ namespace, name }),
    };
  };

  const apply = (step: EndpointStep, left: KubeObject | null): Promise<Outcome<KubeObject | null>> => {
    if (step.do === 'create') return client.create(ENDPOINTS, step.object);
    if (step.do === 'update') return client.update(ENDPOINTS, step.object);
    if (left === null) throw new Error('there is no endpoint to remove');
    return client.delete(ENDPOINTS, left.metadata);
  };

  return startReconciler(options, {
    kind: 'endpoint',
    failed: 'endpoint not reconciled',
    debounceMs,
    workers: WORKERS,
    caches: [records, endpoints, pods],
    watch: (enqueue) => {
      const touch = ({ namespace = '', name }: ObjectName) => enqueue(`${namespace}/${name}`);
      for (const { spec } of records.all()) touch(spec.holder);
      for (const { metadata } of endpoints.all()) touch(metadata);
      return [
        records.onChange(({ before, after }) => {
          for (const record of [before, after]) if (record !== null) touch(record.spec.holder);
        }),
        endpoints.onChange(touch),
        pods.onChange(touch),
      ];
    },
    reconcile: async (key, { write }) => {
      const [namespace = '', name = ''] = key.split('/');
      const facts = look(namespace, name);
      let left = facts.existing;
      for (const step of planEndpoint(facts, rules)) {
        const written = await write(`${step.do} endpoint ${key}`, () => apply(step, left));
        if (!('object' in written)) return written.requeueMs;
        left = written.object;
      }
      return undefined;
    },
  });
}
