import { apiVersionOf, type NewObject } from '#pkg/kube/objects/kube-object.ts';
import { SHARED_IPS } from '#pkg/kube/objects/vitistack-resources.ts';
import { toLabelValue } from '#pkg/record/record-metadata.ts';
import {
  CLUSTER_ID_LABEL,
  CONTROL_PLANE_VIP,
  PURPOSE_LABEL,
  sharedIpConfigurationName,
  shortConfigurationName,
  VIP_INTERFACE,
} from '#pkg/vitistack/provider-names.ts';
import type { SharedIp } from '#pkg/vitistack/read-shared-ip.ts';
import { STATIC_PROVIDER } from '#pkg/vitistack/vitistack-names.ts';

/** The NetworkConfiguration that gets the address of a virtual IP. It is deleted with it. */
export function draftVipConfiguration({ namespace, name, uid, cluster, networkNamespace }: SharedIp): NewObject {
  const own = sharedIpConfigurationName(cluster);
  const { kind } = SHARED_IPS;
  return {
    metadata: {
      namespace,
      name: own,
      labels: { [CLUSTER_ID_LABEL]: toLabelValue(cluster), [PURPOSE_LABEL]: CONTROL_PLANE_VIP },
      ownerReferences: [
        { apiVersion: apiVersionOf(SHARED_IPS), kind, name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      name: shortConfigurationName(own),
      networkNamespaceName: networkNamespace,
      provider: STATIC_PROVIDER,
      networkInterfaces: [{ name: VIP_INTERFACE }],
    },
  };
}
