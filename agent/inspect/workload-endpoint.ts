import { type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';

/** Spiderpool's WorkloadEndpointStatus; null when the pod holds nothing on this node. */
export function toWorkloadEndpoint(records: readonly IpRecord[]): object | null {
  const [first] = records;
  if (first === undefined) return null;
  const { namespace, name, uid, node } = first.spec.holder;
  const byInterface = Map.groupBy(records, (record) => record.spec.holder.interface);
  const interfaces = [...byInterface].map(([nic, held]) =>
    Object.assign({ interface: nic }, ...held.map(toFamilyFields)),
  );
  return { podNamespace: namespace, podName: name, podUID: uid ?? '', node, interfaces };
}

function toFamilyFields(record: IpRecord): object {
  const family = `ipv${recordFamily(record)}`;
  const { address, prefix, pool, gateway, routes } = record.spec;
  return {
    [family]: `${address}/${prefix}`,
    [`${family}Pool`]: pool.name,
    ...(gateway === undefined ? {} : { [`${family}Gateway`]: gateway }),
    ...(routes === undefined ? {} : { routes }),
  };
}
