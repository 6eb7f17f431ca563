import { type DutyContext, FailedWrite, NOT_LEADING_MS } from '#controller/reconcile/projection-duty.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { ENDPOINTS } from '#pkg/kube/objects/spider-resources.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';
import type { ObjectView } from './object-view.ts';
import { type EndpointFacts, type EndpointRules, type EndpointStep, planEndpoint } from './plan-endpoint.ts';
import type { PodsView } from './pods-view.ts';
import type { RecordsView } from './records-view.ts';

export interface ProjectEndpointsOptions extends DutyContext {
  readonly records: RecordsView;
  readonly endpoints: ObjectView;
  readonly pods: PodsView;
  readonly rules: EndpointRules;
  readonly debounceMs?: number;
}

/** Long enough for the families and interfaces of one pod to arrive together. */
const DEBOUNCE_MS = 300;
const WORKERS = 8;

/** Keeps a SpiderEndpoint for every pod and VMI that holds an address, and none for others. */
export function projectEndpoints(options: ProjectEndpointsOptions): AsyncDisposable {
  const { client, log, isLeader, records, endpoints, pods, rules, debounceMs = DEBOUNCE_MS } = options;

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

  const reconcile = async (key: string): Promise<number | undefined> => {
    const [namespace = '', name = ''] = key.split('/');
    const facts = look(namespace, name);
    let left = facts.existing;
    for (const step of planEndpoint(facts, rules)) {
      if (!isLeader()) return NOT_LEADING_MS;
      const outcome = await apply(step, left);
      if (outcome.ok) left = outcome.object;
      else if (outcome.because === 'NotFound') return undefined;
      else if (outcome.because === 'Conflict' || outcome.because === 'AlreadyExists') return debounceMs;
      else throw new FailedWrite(`${step.do} endpoint ${key}`, outcome);
    }
    return undefined;
  };

  const queue = new WorkQueue({
    reconcile,
    workers: WORKERS,
    onTrouble: (endpoint, thrown, retryInMs) =>
      log.warn({ endpoint, err: thrown, retryInMs }, 'endpoint not brought to what the records say'),
  });
  const touch = ({ namespace = '', name }: { readonly namespace?: string; readonly name: string }) =>
    queue.addAfter(`${namespace}/${name}`, debounceMs);

  const stack = new AsyncDisposableStack();
  stack.use(queue);
  const listen = () => {
    stack.use(
      records.onChange(({ before, after }) => {
        for (const record of [before, after]) if (record !== null) touch(record.spec.holder);
      }),
    );
    stack.use(endpoints.onChange(touch));
    stack.use(pods.onChange(touch));
    for (const { spec } of records.all()) touch(spec.holder);
    for (const { metadata } of endpoints.all()) touch(metadata);
  };
  // An endpoint whose record is not known yet must not be taken for one without.
  void Promise.all([records.synced, endpoints.synced, pods.synced]).then(
    () => void (stack.disposed || listen()),
    () => {}, // stopped before
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
