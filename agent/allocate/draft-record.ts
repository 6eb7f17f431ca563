import type { Holder, RecordSpec } from '#pkg/crd/ip-record.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import type { Pool } from '#pkg/pool/pool.ts';

export function draftRecord(pool: Pool, value: bigint, holder: Holder, cleanGateway: boolean): RecordSpec {
  return {
    address: formatAddress({ family: pool.family, value }),
    prefix: pool.subnet.prefix,
    ...(pool.gateway === null ? {} : { gateway: formatAddress(pool.gateway) }),
    domain: pool.domain,
    pool: { kind: 'SpiderIPPool', name: pool.name, uid: pool.uid },
    state: 'Allocated',
    holder,
    ...(pool.routes.length === 0 ? {} : { routes: pool.routes }),
    ...(cleanGateway ? { cleanGateway } : {}),
  };
}
