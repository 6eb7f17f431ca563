import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import type { PoolReadings } from './pool-catalog.ts';
import { poolGauges, type Sample } from './pool-gauges.ts';
import { PoolTally } from './pool-tally.ts';
import type { RecordsView } from './records-view.ts';

interface GaugeViews {
  readonly catalog: PoolReadings;
  readonly records: RecordsView;
  readonly subnets: ObjectView;
}

/** Computes the gauges at each scrape, so that they are never stale. Counting many records does not hold up anything else. */
export async function sampleGauges({ catalog, records, subnets }: GaugeViews): Promise<Sample[]> {
  const tallies: PoolTally[] = [];
  for (const name of catalog.names()) {
    const found = catalog.find(name);
    if (found !== null) tallies.push(await PoolTally.inSlices(found.facts, records.walkPool(name)));
  }
  return poolGauges(tallies, readSubnets(subnets));
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
