import { type ConfigurationStatus, wishOf } from '#controller/provider-plan/configuration-status.ts';
import type { ConfigurationStep } from '#controller/provider-plan/configuration-step.ts';
import type { AllocationDraft } from '#controller/provider-plan/draft-allocation.ts';
import type { ConfigurationFacts, RefusableStep } from '#controller/provider-plan/judge-configuration.ts';
import { nextOfConfiguration } from '#controller/provider-plan/next-of-configuration.ts';
import { describeRefusal } from '#controller/reconcile/describe-refusal.ts';
import { type Enqueue, type Pass, startReconciler } from '#controller/reconcile/reconciler.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import { NETWORK_CONFIGURATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { type NetworkConfiguration, readNetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import { AllocationBook } from './allocation-book.ts';
import type { ProviderSources } from './provider-sources.ts';
import { RepairPace } from './repair-pace.ts';
import { createAllocations, deleteAllocations, isStillThere } from './write-allocations.ts';

const DEBOUNCE_MS = 50;
const WORKERS = 8;
const BACKOFF = { firstMs: 100, mostMs: 10_000 };
/** Between two writes of one status; repairs of what others overwrite take longer and longer. */
const SHORTEST_PAUSE_MS = 100;
/** In case an event was lost. It costs no request. */
const LOOK_AGAIN_MS = 600_000;

/** Makes the IPAllocations that NetworkConfigurations of static networks ask for, and writes into their status what these got. */
export function reconcileConfigurations(sources: ProviderSources): AsyncDisposable {
  const { client, configurationsView: configurations, allocationsView: allocations, networksView, networks } = sources;
  const { settings, now } = sources;
  const pace = new RepairPace(SHORTEST_PAUSE_MS, () => client.timing.nowMs());
  let book: AllocationBook | null = null;

  return startReconciler(sources, {
    kind: 'networkConfiguration',
    failed: 'NetworkConfiguration not reconciled',
    debounceMs: DEBOUNCE_MS,
    workers: WORKERS,
    backoff: BACKOFF,
    caches: [configurations, allocations, networksView],
    watch: (enqueue) => {
      book = new AllocationBook(allocations, enqueue);
      return [
        book,
        configurations.onChange((at) => enqueue(keyOf(at))),
        networks.onEdit((name) => enqueueOf(nameOfKey(name).namespace, sources, enqueue)),
      ];
    },
    existing: function* () {
      for (const { metadata } of configurations.all()) yield keyOf(metadata);
    },
    reconcile: async (key, pass) => {
      const object = configurations.get(nameOfKey(key));
      const configuration = object === null ? null : readNetworkConfiguration(object);
      if (configuration === null || book === null) return void pace.forget(key);
      const networkNamespaces = [...networks.all(configuration.namespace)].map(({ network }) => network);
      const facts = { configuration, networkNamespaces, allocations: book.of(key) };
      return await carryOut(nextOfConfiguration(facts, settings, now()), facts, pass);
    },
  });

  async function carryOut(step: ConfigurationStep, facts: ConfigurationFacts, pass: Pass): Promise<number | undefined> {
    const { configuration } = facts;
    switch (step.do) {
      case 'rest':
        return LOOK_AGAIN_MS;
      case 'sign':
        return await unlessRefused(step.do, facts, pass, () => patchMetadata(configuration, step.metadata, pass));
      case 'let-go':
        return await patchMetadata(configuration, step.metadata, pass);
      case 'delete':
        return await unlessRefused(step.do, facts, pass, () => deleteAllocations(step.allocations, sources));
      case 'create':
        return await unlessRefused(step.do, facts, pass, () => make(step.drafts, configuration));
      case 'write-status':
        return await writeStatus(facts, step.status, pass);
    }
  }

  /** What is refused, by a quota for example, must not hide what else there is to do and to say. It is tried again with backoff. */
  async function unlessRefused(
    step: RefusableStep,
    facts: ConfigurationFacts,
    pass: Pass,
    carryOutStep: () => Promise<number | undefined>,
  ): Promise<number | undefined> {
    try {
      return await carryOutStep();
    } catch (thrown) {
      const refusal = describeRefusal(thrown);
      if (refusal !== null && !facts.configuration.isDeleting) {
        const refused = { ...facts, refusals: { ...facts.refusals, [step]: refusal } };
        const next = nextOfConfiguration(refused, settings, now());
        if (next.do !== step) await carryOut(next, refused, pass);
      }
      throw thrown;
    }
  }

  async function make(drafts: readonly AllocationDraft[], configuration: NetworkConfiguration) {
    if (!(await isStillThere(configuration, sources))) return undefined;
    return await createAllocations(drafts, configuration, sources);
  }

  async function patchMetadata(
    { namespace, name, uid, resourceVersion }: NetworkConfiguration,
    metadata: Readonly<Record<string, unknown>>,
    { write }: Pass,
  ): Promise<number | undefined> {
    const body = { metadata: { uid, resourceVersion, ...metadata } };
    const send = () => client.patch(NETWORK_CONFIGURATIONS, { namespace, name }, body);
    return (await write(`the finalizer of NetworkConfiguration ${namespace}/${name}`, send)).requeueMs;
  }

  /** Conditional: the lists in it rest on what was there. What else is in the status stays. */
  async function writeStatus(
    { configuration, refusals }: ConfigurationFacts,
    status: ConfigurationStatus,
    { write }: Pass,
  ): Promise<number | undefined> {
    const { namespace, name, uid, resourceVersion, status: before } = configuration;
    const key = keyOf({ namespace, name });
    // The words of a refusal may be others each time, and each write of ours wakes the object.
    const wish = refusals === undefined ? wishOf(status) : 'refused';
    const words = refusals === undefined ? null : wishOf(status);
    const shown = (stored: Readonly<Record<string, unknown>>) => [
      words,
      ...Object.keys(status).map((it) => stored[it]),
    ];
    const dueMs = pace.dueInMs(key, wish, shown(before));
    if (dueMs === null) return LOOK_AGAIN_MS;
    if (dueMs > 0) return dueMs;
    const body = { metadata: { uid, resourceVersion }, status };
    const written = await write(`the status of NetworkConfiguration ${namespace}/${name}`, () =>
      client.patch(NETWORK_CONFIGURATIONS, { namespace, name }, body, { subresource: 'status' }),
    );
    if ('object' in written) pace.wrote(key, wish, shown(readNetworkConfiguration(written.object)?.status ?? {}));
    return written.requeueMs;
  }
}

function enqueueOf(namespace: string, { configurationsView }: ProviderSources, enqueue: Enqueue): void {
  for (const { metadata } of configurationsView.all()) if (metadata.namespace === namespace) enqueue(keyOf(metadata));
}
