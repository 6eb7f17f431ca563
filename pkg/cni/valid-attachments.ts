import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isContainerId, isInterfaceName, type JsonFields } from './untrusted-input.ts';

const MAX_ATTACHMENTS = 10_000;
const KEY = 'cni.dev/valid-attachments';
/** The key of the specification's first print; libcni sends both. */
const LEGACY_KEY = 'cni.dev/attachments';

export interface ValidAttachment {
  readonly containerID: string;
  readonly ifName: string;
}

/** A missing list is an error: taken for an empty one it would release everything. */
export function decodeValidAttachments(conf: JsonFields): readonly ValidAttachment[] {
  const items = conf.optionalObjects(KEY, MAX_ATTACHMENTS) ?? conf.optionalObjects(LEGACY_KEY, MAX_ATTACHMENTS);
  if (items === undefined) throw new IpamError('bad-config', `${KEY} is missing in the network configuration`);
  return items.map((item) => ({
    containerID: item.textThat(isContainerId, 'containerID', 'a container ID'),
    ifName: item.textThat(isInterfaceName, 'ifname', 'an interface name'),
  }));
}
