import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { wishOf } from '#controller/provider-plan/configuration-status.ts';
import { nextOfSharedIp, type SharedIpFacts, type SharedIpStep } from '#controller/provider-plan/next-of-shared-ip.ts';
import { describeRefusal } from '#controller/reconcile/describe-refusal.ts';
import { FailedRequest, type Pass, startReconciler } from '#controller/reconcile/reconciler.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import { NETWORK_CONFIGURATIONS, SHARED_IPS } from '#pkg/kube/objects/vitistack-resources.ts';
import { sharedIpConfigurationName } from '#pkg/vitistack/provider-names.ts';
import { readNetworkConfiguration, toProvider } from '#pkg/vitistack/read-network-configuration.ts';
import { readSharedIp, type SharedIp } from '#pkg/vitistack/read-shared-ip.ts';
import type { ProviderSources } from './provider-sources.ts';
import { RepairPace } from './repair-pace.ts';

export interface SharedIpSources extends ProviderSources {
  readonly sharedIps: ObjectView;
}

const DEBOUNCE_MS = 100;
const BACKOFF = { firstMs: 200, mostMs: 10_000 };
const SHORTEST_PAUSE_MS = 100;
const LOOK_AGAIN_MS = 600_000;
const SOON_MS = 500;

/** Makes a NetworkConfiguration for each virtual IP of a control plane, and copies its address to the status. */
export function reconcileSharedIps(sources: SharedIpSources): AsyncDisposable {
  const { client, sharedIps, configurationsView: configurations, networksView, networks, isLeader, now } = sources;
  const pace = new RepairPace(SHORTEST_PAUSE_MS, () => client.timing.nowMs());

  return startReconciler(sources, {
    kind: 'controlPlaneVirtualSharedIP',
    failed: 'ControlPlaneVirtualSharedIP not reconciled',
    debounceMs: DEBOUNCE_MS,
    backoff: BACKOFF,
    caches: [sharedIps, configurations, networksView],
    watch: (enqueue) => {
      const enqueueWhere = (isConcerned: (it: SharedIp) => boolean) => {
        for (const object of sharedIps.all()) {
          const found = readSharedIp(object);
          if (found !== null && isConcerned(found)) enqueue(keyOf(found));
        }
      };
      enqueueWhere(() => true);
      return [
        sharedIps.onChange((at) => enqueue(keyOf(at))),
        configurations.onChange(({ namespace, name }) =>
          enqueueWhere((it) => it.namespace === namespace && sharedIpConfigurationName(it.cluster) === name),
        ),
        networks.onEdit((name) =>
          enqueueWhere((it) => keyOf({ namespace: it.namespace, name: it.networkNamespace }) === name),
        ),
      ];
    },
    reconcile: async (key, pass) => {
      const object = sharedIps.get(nameOfKey(key));
      const sharedIp = object === null ? null : readSharedIp(object);
      if (sharedIp === null) return void pace.forget(key);
      const facts = observe(sharedIp);
      const step = nextOfSharedIp(facts, now());
      try {
        return await carryOut(step, facts, pass);
      } catch (thrown) {
        const refusal = step.do === 'write-status' ? null : describeRefusal(thrown);
        // If this fails too, the first failure is the one that is reported.
        if (refusal !== null) await sayRefused({ ...facts, refusal }, pass).catch(() => undefined);
        throw thrown;
      }
    },
  });

  async function sayRefused(facts: SharedIpFacts, pass: Pass): Promise<void> {
    const step = nextOfSharedIp(facts, now());
    if (step.do === 'write-status') await carryOut(step, facts, pass);
  }

  function observe(sharedIp: SharedIp): SharedIpFacts {
    const { namespace, networkNamespace, cluster } = sharedIp;
    const at = { namespace, name: networkNamespace };
    const network = networks.find(keyOf(at))?.network ?? null;
    const object = configurations.get({ namespace, name: sharedIpConfigurationName(cluster) });
    const configuration = object === null ? null : readNetworkConfiguration(object);
    return {
      sharedIp,
      network: network === null ? null : { is: network, provider: providerOf(networksView.get(at)) },
      configuration: object === null || configuration === null ? null : { is: configuration, object },
    };
  }

  async function carryOut(
    step: SharedIpStep,
    { sharedIp, refusal }: SharedIpFacts,
    { write }: Pass,
  ): Promise<number | undefined> {
    const { namespace, name, uid, resourceVersion } = sharedIp;
    const at = { namespace, name };
    const seen = { uid, resourceVersion };
    const isRefused = refusal !== undefined;
    switch (step.do) {
      case 'rest':
        return LOOK_AGAIN_MS;
      case 'set-finalizers': {
        const body = { metadata: { ...seen, finalizers: step.finalizers } };
        return (await write(`the finalizer of ${keyOf(at)}`, () => client.patch(SHARED_IPS, at, body))).requeueMs;
      }
      case 'create': {
        const make = () => client.create(NETWORK_CONFIGURATIONS, step.object);
        return (await write(`the NetworkConfiguration of ${keyOf(at)}`, make)).requeueMs;
      }
      case 'move': {
        const { configuration, networkNamespace } = step;
        const metadata = { uid: configuration.uid, resourceVersion: configuration.resourceVersion };
        const body = { metadata, spec: { networkNamespaceName: networkNamespace } };
        const move = () => client.patch(NETWORK_CONFIGURATIONS, configuration, body);
        return (await write(`the network of ${keyOf(configuration)}`, move)).requeueMs;
      }
      case 'delete': {
        if (!isLeader()) return SOON_MS;
        const { name: own, uid: ownUid } = step.configuration;
        const outcome = await client.delete(NETWORK_CONFIGURATIONS, { namespace, name: own, uid: ownUid });
        if (outcome.ok || outcome.because === 'NotFound' || outcome.because === 'Conflict') return SOON_MS;
        throw new FailedRequest(`NetworkConfiguration ${namespace}/${own}`, outcome);
      }
      case 'write-status': {
        // The words of a refusal may be others each time, and each write of ours wakes the object.
        const wish = isRefused ? 'refused' : wishOf(step.status);
        const words = isRefused ? wishOf(step.status) : null;
        const shown = (status: Readonly<Record<string, unknown>>) => [
          words,
          ...Object.keys(step.status).map((it) => status[it]),
        ];
        const dueMs = pace.dueInMs(keyOf(at), wish, shown(sharedIp.status));
        if (dueMs !== 0) return dueMs ?? LOOK_AGAIN_MS;
        const body = { metadata: seen, status: step.status };
        const send = () => client.patch(SHARED_IPS, at, body, { subresource: 'status' });
        const written = await write(`the status of ${keyOf(at)}`, send);
        if ('object' in written) pace.wrote(keyOf(at), wish, shown(readSharedIp(written.object)?.status ?? {}));
        return written.requeueMs;
      }
    }
  }
}

function providerOf(network: KubeObject | null): string {
  const spec = isMap(network?.['spec']) ? network['spec'] : {};
  return isMap(spec['ipAllocation']) ? toProvider(spec['ipAllocation']['provider']) : '';
}
