import type { NetworkPools } from '#controller/allocations/network-pools.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { ProviderSettings } from '#controller/provider-plan/judge-configuration.ts';
import type { ReconcilerContext } from '#controller/reconcile/reconciler.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';

/** What the reconcilers of the provider role share. */
export interface ProviderSources extends ReconcilerContext {
  readonly configurationsView: ObjectView;
  readonly allocationsView: ObjectView;
  readonly networksView: ObjectView;
  readonly networks: NetworkPools;
  /** NetworkNamespaces in the version that is served. */
  readonly networkResource: Resource;
  readonly settings: ProviderSettings;
}
