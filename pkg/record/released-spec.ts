import type { Holder, RecordSpec } from './ip-record.ts';

/** The address is held back before another holder gets it. */
export function toCooling(spec: RecordSpec, until: Date): RecordSpec {
  return { ...spec, state: 'Cooling', until: until.toISOString(), holder: withoutSandbox(spec.holder) };
}

/** It waits for its sticky holder's next pod, and the sandbox before is proven gone: a second DEL finds nothing to do. */
export function toRetained(spec: RecordSpec): RecordSpec {
  return { ...spec, state: 'Retained', holder: withoutSandbox(spec.holder) };
}

/** Nothing of the pod and the sandbox that had it. */
function withoutSandbox(before: Holder): Holder {
  const { uid: _uid, containerID: _containerID, static: _static, ...rest } = before;
  const { netns: _netns, netnsInode: _inode, bootID: _bootID, machineID: _machineID, ...holder } = rest;
  return holder;
}
