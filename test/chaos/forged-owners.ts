import { randomUUID } from 'node:crypto';
import type { ApiObject } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';

export interface ForgedPod {
  readonly name: string;
  readonly owner: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
  /** Whether no change of the owner can make it true. */
  readonly isLie: boolean;
}

/** A pod of a tenant who wants to be treated like the pod of a StatefulSet or of a virtual machine. */
export function forgePod(sets: readonly ApiObject[], random: Random): ForgedPod {
  const uid = randomUUID();
  const ordinal = random.below(6);
  const machine = `vm-${random.below(1_000)}`;
  const forgeries: ForgedPod[] = [
    {
      name: `virt-launcher-${machine}`,
      owner: { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: machine, uid },
      isLie: true,
    },
    { name: `ghost-${ordinal}`, owner: ofSet('ghost', uid), isLie: true },
  ];
  if (sets.length > 0) {
    const { name, uid: realUid } = random.pick(sets).metadata;
    forgeries.push(
      { name: `${name}-${ordinal}`, owner: ofSet(name, uid), isLie: true },
      // Its set may be scaled so far at any time.
      { name: `${name}-${6 + ordinal}`, owner: ofSet(name, realUid), isLie: false },
    );
  }
  return random.pick(forgeries);
}

function ofSet(name: string, uid: string): ForgedPod['owner'] {
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid };
}
