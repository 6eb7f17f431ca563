import type { PodHoldersPorts } from '#agent/cluster/pod-holders.ts';
import { OwnerVerifier } from '#agent/owners/owner-verifier.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { VMI_MIGRATIONS } from '#pkg/kube/objects/sticky-owners.ts';
import type { StickySwitches } from '#pkg/record/ip-record.ts';

/** The real verifier in a cluster where every owner is what the pod says, and wants any ordinal. */
export function believingOwners(switches: StickySwitches): PodHoldersPorts['owners'] {
  return {
    verify: (pod, top) => {
      const read = async (resource: { readonly kind: string }): Promise<Outcome<KubeObject>> => {
        const isMigration = resource.kind === VMI_MIGRATIONS.kind;
        const metadata = { name: 'x', uid: isMigration ? 'migration-1' : top.uid, resourceVersion: '1' };
        const spec = isMigration ? { vmiName: top.name } : { replicas: 1_000 };
        return { ok: true, object: { metadata, spec } };
      };
      return new OwnerVerifier(read, switches, () => 0).verify(pod, top);
    },
  };
}
