import type { Fields } from '#pkg/decode/untrusted.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { decodeStaticNetwork, type StaticNetwork } from './static-network.ts';
import { poolNameOf } from './vitistack-names.ts';

/** A NetworkNamespace, of either version. */
export interface NetworkNamespace {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** RFC 3339 in whole seconds, as the API server writes it. */
  readonly createdAt: string;
  readonly isDeleting: boolean;
  /** The name of its pool in the ledger. */
  readonly poolName: string;
  /** `status.provisioningPhase`; null while there is none: then it is not waited for. */
  readonly provisioningPhase: string | null;
  /** Without the block, Vitistack means DHCP. */
  readonly type: 'static' | 'dhcp';
  /** Null for DHCP, and where the static block cannot be read; `problem` says why. */
  readonly network: StaticNetwork | null;
  readonly problem: string | null;
}

export interface RangeRules {
  /** The first address that is given out, counted from the network address. */
  readonly floor: number;
}

/** Null for an object without a namespace: that kind has one. */
export function readNetworkNamespace(object: KubeObject, { floor }: RangeRules): NetworkNamespace | null {
  const { namespace, name, uid, generation = 0, creationTimestamp = '', deletionTimestamp } = object.metadata;
  if (namespace === undefined) return null;
  const poolName = poolNameOf({ namespace, name });
  const isDeleting = deletionTimestamp !== undefined;
  const status = fieldsOf(object['status']);
  const allocation = fieldsOf(fieldsOf(object['spec'])['ipAllocation']);
  const phase = status['provisioningPhase'];
  return {
    namespace,
    name,
    uid,
    generation,
    createdAt: creationTimestamp,
    isDeleting,
    poolName,
    provisioningPhase: typeof phase === 'string' && phase !== '' ? phase.slice(0, LONGEST_PHASE) : null,
    ...readPool(allocation, (block) =>
      decodeStaticNetwork(
        {
          poolName,
          uid,
          annotations: fieldsOf(object.metadata.annotations),
          isTerminating: isDeleting,
          block,
          status,
        },
        floor,
      ),
    ),
  };
}

const LONGEST_PHASE = 63;

function readPool(
  allocation: Fields,
  decode: (block: Fields) => StaticNetwork,
): Pick<NetworkNamespace, 'type' | 'network' | 'problem'> {
  const type = allocation['type'] ?? 'dhcp';
  if (type !== 'static') {
    const problem = type === 'dhcp' ? 'it is of type dhcp' : `its type ${quote(String(type))} is not known`;
    return { type: 'dhcp', network: null, problem };
  }
  try {
    return { type, network: decode(fieldsOf(allocation['static'])), problem: null };
  } catch (thrown) {
    return { type, network: null, problem: toIpamError(thrown).message };
  }
}

/** What is no map has no fields. */
function fieldsOf(value: unknown): Fields {
  return isMap(value) ? value : {};
}
