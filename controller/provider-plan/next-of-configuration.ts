import { TAKEN_OVER_ANNOTATION } from '#pkg/vitistack/provider-names.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { type ServedInterface, serveInterfaces } from '#pkg/vitistack/serving-allocations.ts';
import { CONFIGURATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import { planConfigurationStatus } from './configuration-status.ts';
import type { ConfigurationStep } from './configuration-step.ts';
import { draftAllocation } from './draft-allocation.ts';
import { type ConfigurationFacts, judgeConfiguration, type ProviderSettings } from './judge-configuration.ts';

/** Set by Kubernetes on an owner that is deleted with `--cascade=orphan`: its dependents are to live on. */
const ORPHAN = 'orphan';

/**
 * The next step of a NetworkConfiguration: finalizer, IPAllocations, status. Each only if it is not done, so that after a crash
 * anywhere the same steps follow.
 */
export function nextOfConfiguration(
  facts: ConfigurationFacts,
  settings: ProviderSettings,
  now: Date,
): ConfigurationStep {
  const { configuration, allocations } = facts;
  if (configuration.isDeleting) return nextOfDeleted(facts);
  const judgement = judgeConfiguration(facts, settings);
  if (judgement.is === 'not-ours') return { do: 'rest' };
  if (judgement.is === 'given-up') return giveUp(facts);
  const served = serveInterfaces(configuration, allocations);
  if (judgement.is === 'ours') {
    const step = nextOfServed(facts, judgement.networkNamespace, served);
    if (step !== null) return step;
  }
  const network = judgement.is === 'ours' ? judgement.networkNamespace : null;
  const why = judgement.is === 'ours' ? Object.values(facts.refusals ?? {}).join('; ') || null : judgement.why;
  const status = planConfigurationStatus({ configuration, served, network, why }, now);
  return status === null ? { do: 'rest' } : { do: 'write-status', status };
}

function nextOfServed(
  { configuration, allocations, refusals = {} }: ConfigurationFacts,
  network: NetworkNamespace,
  served: readonly ServedInterface[],
): ConfigurationStep | null {
  const { finalizers, isTakenOver } = configuration;
  // Nothing is made for one that could not be signed: it would be left behind.
  if (refusals.sign !== undefined) return null;
  if (!finalizers.includes(CONFIGURATION_FINALIZER) || isTakenOver === null) return sign(configuration, served);
  const surplus = allocations.filter((it) => !it.isDeleting && isSurplus(it, configuration, network));
  // Exactly the address of static-ip-operator is asked for only in the network that it is of.
  if (isTakenOver && surplus.some((it) => it.networkNamespace !== network.name)) {
    return { do: 'sign', metadata: { annotations: { [TAKEN_OVER_ANNOTATION]: 'false' } } };
  }
  if (surplus.length > 0 && refusals.delete === undefined) return { do: 'delete', allocations: surplus };
  const without = served.filter((it) => it.allocations.length === 0);
  if (without.length > 0 && refusals.create === undefined)
    return { do: 'create', drafts: without.map((it) => draftAllocation(configuration, network, it)) };
  return null;
}

function sign(
  { finalizers, isTakenOver }: NetworkConfiguration,
  served: readonly ServedInterface[],
): ConfigurationStep {
  const isShown = served.some(({ shown, allocations }) => {
    return shown?.isStatic === true && shown.addresses.length > 0 && allocations.length === 0;
  });
  const taken = String(isTakenOver ?? isShown);
  const own = finalizers.includes(CONFIGURATION_FINALIZER) ? [] : [CONFIGURATION_FINALIZER];
  return {
    do: 'sign',
    metadata: { finalizers: [...finalizers, ...own], annotations: { [TAKEN_OVER_ANNOTATION]: taken } },
  };
}

/** We made it, and the configuration has moved to another network, or has the interface no more. What others made is theirs. */
function isSurplus(it: IpAllocation, { interfaces }: NetworkConfiguration, network: NetworkNamespace): boolean {
  if (!it.isMadeByUs) return false;
  return it.networkNamespace !== network.name || !interfaces.some((wanted) => wanted.name === it.interface);
}

function nextOfDeleted({ configuration, allocations }: ConfigurationFacts): ConfigurationStep {
  const { finalizers, uid } = configuration;
  if (!finalizers.includes(CONFIGURATION_FINALIZER)) return { do: 'rest' };
  // Those of others have an owner reference: Kubernetes ends them. One that has none any more is an orphan already.
  const isOurs = (it: IpAllocation) =>
    it.isMadeByUs && !it.isDeleting && it.owners.some((owner) => owner['uid'] === uid);
  const left = finalizers.includes(ORPHAN) ? [] : allocations.filter(isOurs);
  if (left.length > 0) return { do: 'delete', allocations: left };
  return { do: 'let-go', metadata: { finalizers: withoutOurs(finalizers) } };
}

function giveUp({ configuration: { finalizers }, allocations }: ConfigurationFacts): ConfigurationStep {
  const own = allocations.filter((it) => !it.isDeleting && it.isMadeByUs);
  if (own.length > 0) return { do: 'delete', allocations: own };
  return {
    do: 'let-go',
    metadata: { finalizers: withoutOurs(finalizers), annotations: { [TAKEN_OVER_ANNOTATION]: null } },
  };
}

function withoutOurs(finalizers: readonly string[]): readonly string[] {
  return finalizers.filter((it) => it !== CONFIGURATION_FINALIZER);
}
