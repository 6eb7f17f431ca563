import type { AddResponse, IpConfig, WireRoute } from '#pkg/agentapi/wire.ts';
import { type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';

const DEFAULT_DESTINATION = { 4: '0.0.0.0/0', 6: '::/0' } as const;

/** What the plugin is told: from the records alone, so that a repeated ADD says the same. */
export function toAddResponse(records: readonly IpRecord[]): AddResponse {
  const inOrder = records.toSorted((a, b) => compare(a, b));
  return { ips: inOrder.map(toIpConfig), routes: inOrder.flatMap(toRoutes) };
}

function compare(a: IpRecord, b: IpRecord): number {
  const [x, y] = [a.spec.holder.interface, b.spec.holder.interface];
  if (x !== y) return x < y ? -1 : 1;
  return recordFamily(a) - recordFamily(b);
}

function toIpConfig(record: IpRecord): IpConfig {
  const { address, prefix, gateway, pool, holder } = record.spec;
  return {
    version: recordFamily(record),
    address: `${address}/${prefix}`,
    nic: holder.interface,
    ipPool: pool.name,
    ...(gateway === undefined ? {} : { gateway }),
    enableGatewayDetection: false,
    enableIPConflictDetection: false,
  };
}

function toRoutes(record: IpRecord): WireRoute[] {
  const { gateway, cleanGateway, routes = [], holder } = record.spec;
  const all = routes.map(({ dst, gw }) => ({ ifName: holder.interface, dst, gw }));
  if (gateway === undefined || cleanGateway === true) return all;
  return [...all, { ifName: holder.interface, dst: DEFAULT_DESTINATION[recordFamily(record)], gw: gateway }];
}
