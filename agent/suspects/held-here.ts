import type { Holder, RecordSpec } from '#pkg/record/ip-record.ts';

/**
 * The record for the moment between its take-over and its release. It names the same holder, so that it can be judged as
 * before if the agent dies in between: the pod is gone, so the controller makes it Suspect again. It has no sandbox, because
 * this node never had one for it.
 */
export function heldHere(spec: RecordSpec, node: string): RecordSpec {
  const { kind, namespace, name, uid, interface: nic, network, owner, sticky, attachGeneration } = spec.holder;
  const holder: Holder = {
    kind,
    namespace,
    name,
    ...(uid === undefined ? {} : { uid }),
    interface: nic,
    ...(network === undefined ? {} : { network }),
    attachGeneration: attachGeneration + 1,
    node,
    ...(owner === undefined ? {} : { owner }),
    ...(sticky === undefined ? {} : { sticky }),
  };
  return { ...spec, state: 'Allocated', holder };
}
