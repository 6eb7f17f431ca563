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

/**
 * The records that an endpoint shows, the most relevant first. `held` are those of one holder. A record of the living pod shows
 * what the pod has; its age shows nothing, because a Retained record that was taken over is older than one that was left.
 */
export function shownRecords(held: readonly IpRecord[], livingUid: string | null): IpRecord[] {
  const own = held.filter(({ spec }) => livingUid !== null && spec.holder.uid === livingUid);
  return (own.length > 0 ? own : held).toSorted(compareRelevance);
}

const RANK = { Allocated: 0, Suspect: 1, Retained: 2, Cooling: 3, Quarantined: 3 } as const;

function compareRelevance(a: IpRecord, b: IpRecord): number {
  if (a.spec.state !== b.spec.state) return RANK[a.spec.state] - RANK[b.spec.state];
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
