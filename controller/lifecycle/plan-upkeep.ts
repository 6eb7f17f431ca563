import { cidrLabel } from '#pkg/crd/cidr-label.ts';
import { decodeSubnet } from '#pkg/crd/decode-network.ts';
import { isMap, type KubeObject, type SeenObject } from '#pkg/kube/objects/kube-object.ts';
import { FINALIZER } from '#pkg/kube/objects/spider-resources.ts';

/**
 * The object with finalizer, family and CIDR label. Null if nothing is missing, and for an object that is being deleted. Admission
 * does the same for every write that it sees; this is for writes that it did not see.
 */
export function planUpkeep(object: KubeObject, labelKey: string): SeenObject | null {
  const { metadata } = object;
  if (metadata.deletionTimestamp !== undefined || !isMap(object['spec'])) return null;
  const spec = object['spec'];
  const subnet = trySubnet(spec['subnet']);
  const { finalizers = [], labels = {} } = metadata;
  const hasFinalizer = finalizers.includes(FINALIZER);
  const label = (subnet && cidrLabel(subnet)) ?? labels[labelKey];
  const version = spec['ipVersion'] ?? subnet?.family;
  if (hasFinalizer && labels[labelKey] === label && spec['ipVersion'] === version) return null;
  return {
    ...withoutStatus(object),
    metadata: {
      ...metadata,
      finalizers: hasFinalizer ? finalizers : [...finalizers, FINALIZER],
      labels: label === undefined ? labels : { ...labels, [labelKey]: label },
    },
    spec: version === undefined ? spec : { ...spec, ipVersion: version },
  };
}

/** The object without our finalizer; null if it does not have it. */
export function withoutFinalizer(object: KubeObject): SeenObject | null {
  const { metadata } = object;
  const { finalizers = [] } = metadata;
  if (!finalizers.includes(FINALIZER)) return null;
  const rest = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  return { ...withoutStatus(object), metadata: { ...metadata, finalizers: rest } };
}

/** Without the status: this write cannot change it, and JavaScript would round large counts in it. */
function withoutStatus(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object;
  return rest as KubeObject;
}

function trySubnet(value: unknown) {
  try {
    return decodeSubnet(value, 'spec.subnet');
  } catch {
    return null;
  }
}
