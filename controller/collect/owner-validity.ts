import type { OwnerEvidence } from '#controller/judge/evidence.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isMap, type KubeObject, type ObjectName, type Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { isOrdinalIn, isWantedVmi, STATEFUL_SETS, VMIS, VMS, wantedOrdinals } from '#pkg/kube/objects/sticky-owners.ts';
import { type IpRecord, ordinalOf } from '#pkg/record/ip-record.ts';

/** An uncached read of one object. */
export type ReadLive = (resource: Resource, at: ObjectName) => Promise<Outcome<KubeObject>>;

/** Whether a set of this name wants a pod of this name: one that was deleted and made again has the addresses of the one before. */
export async function statefulSetValidity({ spec: { holder } }: IpRecord, read: ReadLive): Promise<OwnerEvidence> {
  const { namespace, name, owner } = holder;
  const ordinal = owner === undefined ? null : ordinalOf(name, owner.name);
  if (owner === undefined || ordinal === null) return 'invalid';
  const set = await read(STATEFUL_SETS, { namespace, name: owner.name });
  if (!set.ok) return absence(set, `StatefulSet ${namespace}/${owner.name}`);
  const range = wantedOrdinals(set.object);
  if (range !== null) return isOrdinalIn(ordinal, range) ? 'valid' : 'invalid';
  throw new IpamError('io-failure', `StatefulSet ${namespace}/${owner.name} has no readable replicas`);
}

/** A VMI is wanted while it runs and is not being deleted, or while the VirtualMachine above it is there to start it again. */
export async function vmiValidity({ spec: { holder } }: IpRecord, read: ReadLive): Promise<OwnerEvidence> {
  const { namespace, name } = holder;
  const vmi = await read(VMIS, { namespace, name });
  if (!vmi.ok && vmi.because !== 'NotFound') return absence(vmi, `VirtualMachineInstance ${namespace}/${name}`);
  if (vmi.ok && isWantedVmi(vmi.object)) return 'valid';
  const vmName = vmi.ok ? controllingVm(vmi.object) : name;
  if (vmName === null) return 'invalid';
  const vm = await read(VMS, { namespace, name: vmName });
  if (!vm.ok) return absence(vm, `VirtualMachine ${namespace}/${vmName}`);
  return vm.object.metadata.deletionTimestamp === undefined ? 'valid' : 'invalid';
}

function absence(outcome: Outcome<KubeObject> & { ok: false }, what: string): OwnerEvidence {
  if (outcome.because === 'NotFound') return 'invalid';
  if (outcome.because === 'NotServed') return 'not-served';
  throw new IpamError('io-failure', `cannot read ${what}: ${outcome.message}`);
}

function controllingVm({ metadata }: KubeObject): string | null {
  const owners = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  const owner = owners.find((it) => isMap(it) && it['controller'] === true && it['kind'] === 'VirtualMachine');
  const name = isMap(owner) ? owner['name'] : undefined;
  return typeof name === 'string' ? name : null;
}
