import type { SubnetsAnswer } from '#ctl/render/render-subnets.ts';
import { shortageLines } from '#pkg/autopool/shortage.ts';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { compareText } from '#pkg/pool/order.ts';
import { readAll, readPools, readRecords } from './cluster-objects.ts';
import { summarizeSubnet } from './summarize-subnets.ts';

/** The subnets of the cluster with their pools, and who waits for one. */
export async function readSubnets(client: KubeClient): Promise<SubnetsAnswer> {
  const subnets = await readAll(client, SUBNETS, (object) => ({
    subnet: decodeSpiderSubnet(object),
    waiting: shortageLines(object['status']),
  }));
  const { pools, reserved, problems } = await readPools(client);
  const records = await readRecords(client);
  const world = { pools: [...pools.values()], records: records.items, reserved };
  return {
    subnets: subnets.items
      .toSorted((a, b) => compareText(a.subnet.name, b.subnet.name))
      .map((it) => summarizeSubnet(it, world)),
    problems: [...subnets.problems, ...problems, ...records.problems],
  };
}
