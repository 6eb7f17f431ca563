import type { JsonFields } from '#pkg/cni/json-fields.ts';
import { isContainerId, isInterfaceName, isPodName } from '#pkg/cni/names.ts';

/** As long as a record may keep it. */
const MAX_PATH = 1024;
const MAX_POD_UID = 128;

interface Holder {
  readonly containerID: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUID: string;
}

/** The fields that every body about a sandbox has. The pod's may be empty, not absent. */
export function decodeWireHolder(fields: JsonFields): Holder {
  return {
    containerID: decodeContainerId(fields),
    podNamespace: fields.textThat(isPodName, 'podNamespace', 'the name of a namespace'),
    podName: fields.textThat(isPodName, 'podName', 'the name of a pod'),
    podUID: fields.text('podUID', MAX_POD_UID),
  };
}

export function decodeContainerId(fields: JsonFields): string {
  return fields.textThat(isContainerId, 'containerID', 'a container ID');
}

export function decodeInterface(fields: JsonFields, key: string): string {
  return fields.textThat(isInterfaceName, key, 'an interface name');
}

export function decodeNetns(fields: JsonFields): { readonly netNamespace?: string } {
  const netNamespace = fields.optionalText('netNamespace', MAX_PATH);
  return netNamespace === undefined ? {} : { netNamespace };
}
