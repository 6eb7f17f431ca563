import { omitAbsent } from '#pkg/decode/untrusted.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** `status` of a SpiderEndpoint. `records` are all of one holder, at least one, the most relevant first. If two have the same NIC and family, the first is shown. */
export function endpointStatus(records: readonly IpRecord[]): Readonly<Record<string, unknown>> {
  const holder = records[0]?.spec.holder;
  const byInterface = Map.groupBy(records, ({ spec }) => spec.holder.interface);
  const interfaces = [...byInterface].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    current: {
      uid: holder?.uid ?? '',
      node: holder?.node ?? '',
      ips: interfaces.map(([name, own]) => attachment(name, own)),
    },
    ownerControllerType: holder?.owner?.kind ?? holder?.kind ?? '',
    ownerControllerName: holder?.owner?.name ?? holder?.name ?? '',
  };
}

function attachment(name: string, records: readonly IpRecord[]): object {
  const ipv4 = records.find(({ spec }) => !spec.address.includes(':'))?.spec;
  const ipv6 = records.find(({ spec }) => spec.address.includes(':'))?.spec;
  const shown = [ipv4, ipv6].filter((spec) => spec !== undefined);
  const routes = shown.flatMap((spec) => spec.routes ?? []);
  const hasGateway = shown.some(({ gateway }) => gateway !== undefined);
  return omitAbsent({
    interface: name,
    ipv4: ipv4 && `${ipv4.address}/${ipv4.prefix}`,
    ipv4Pool: ipv4?.pool.name,
    ipv4Gateway: ipv4?.gateway,
    ipv6: ipv6 && `${ipv6.address}/${ipv6.prefix}`,
    ipv6Pool: ipv6?.pool.name,
    ipv6Gateway: ipv6?.gateway,
    vlan: 0, // the default of the CRD
    cleanGateway: hasGateway ? shown.some((spec) => spec.cleanGateway === true) : undefined,
    routes: routes.length === 0 ? undefined : routes,
  });
}
