import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { cidrContains } from '#pkg/ip/cidr.ts';
import type { Pool, Route } from '#pkg/pool/pool.ts';
import type { Holder, RecordSpec } from '#pkg/record/ip-record.ts';

export interface Drafting {
  readonly holder: Holder;
  readonly cleanGateway: boolean;
  /** What the pod itself asks for. */
  readonly routes: readonly Route[];
}

export function draftRecord(pool: Pool, value: bigint, { holder, cleanGateway, routes }: Drafting): RecordSpec {
  const all = [...pool.routes, ...routes.filter(({ gw }) => cidrContains(pool.subnet, parseAddress(gw)))];
  return {
    address: formatAddress({ family: pool.family, value }),
    prefix: pool.subnet.prefix,
    ...(pool.gateway === null ? {} : { gateway: formatAddress(pool.gateway) }),
    domain: pool.domain,
    pool: { kind: 'SpiderIPPool', name: pool.name, uid: pool.uid },
    state: 'Allocated',
    holder,
    ...(all.length === 0 ? {} : { routes: all }),
    ...(cleanGateway ? { cleanGateway } : {}),
  };
}
