import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import type { PoolReadings } from './pool-catalog.ts';
import { poolGauges, type Sample } from './pool-gauges.ts';
import type { RecordsView } from './records-view.ts';

interface GaugeViews {
  readonly catalog: PoolReadings;
  readonly records: RecordsView;
  readonly subnets: ObjectView;
}

/** Computes the gauges at each scrape, so that they are never stale. */
export function sampleGauges({ catalog, records, subnets }: GaugeViews): Sample[] {
  const pools = catalog.names().flatMap((name) => {
    const found = catalog.find(name);
    return found === null ? [] : [{ facts: found.facts, records: records.ofPool(name) }];
  });
  return poolGauges(pools, readSubnets(subnets));
}

function readSubnets(subnets: ObjectView): SpiderSubnet[] {
  return [...subnets.all()].flatMap((object) => {
    try {
      return [decodeSpiderSubnet({ ...object, apiVersion: apiVersionOf(SUBNETS), kind: SUBNETS.kind })];
    } catch {
      return [];
    }
  });
}
