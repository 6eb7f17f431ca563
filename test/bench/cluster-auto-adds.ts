import { autoPoolLabels } from '#pkg/autopool/identity.ts';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { applicationAffinity } from '#pkg/pool/auto-pool.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { addAll } from './cluster-adds.ts';
import { ClusterSite, type PodMetadata } from './cluster-site.ts';
import { ms, printTable } from './report.ts';
import { median, quantile, spread } from './statistics.ts';

const NODES = ['worker-1'];
const PODS = 100;
const BLOCKS = 5;
const READ = ['iprecords', 'deployments', 'replicasets', 'spidersubnets', 'spiderippools', 'pods'];
const APPS = '/apis/apps/v1/namespaces/default';

/** ADDs that find the pool of their application ready, compared with ADDs from a named pool: the same work, no read more. */
export async function benchAutoAdds(): Promise<void> {
  await using site = await ClusterSite.start(NODES);
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const agents = await site.startAgents();
  const metadata = await createApplication(site);
  const named = async () => await addAll(agents, await site.createPods(NODES, PODS), 'bench');
  const auto = async () => {
    const pods = await site.createPods(NODES, PODS, metadata);
    const before = await countRequests(site);
    const { latenciesMs } = await addAll(agents, pods, 'bench');
    const after = await countRequests(site);
    const perAdd = (at: 'reads' | 'writes') => (after[at] - before[at]) / PODS;
    return [quantile(latenciesMs, 0.5), perAdd('reads'), perAdd('writes')];
  };
  const measured = await measureInBlocks({ named: async () => [median((await named()).latenciesMs)], auto }, BLOCKS);
  const column = (name: 'named' | 'auto', at: number) => measured.values[name].map((block) => block[at] ?? Number.NaN);
  const ratios = column('auto', 0).map((value, block) => value / (column('named', 0)[block] ?? Number.NaN));
  const [reads, writes] = [median(column('auto', 1)), median(column('auto', 2))];
  printTable(`ADD that finds the pool of its application ready (${noteNoise(measured)})`, [
    {
      what: 'p50',
      value: `${ms(median(column('auto', 0)))}, from a named pool ${ms(median(column('named', 0)))}`,
      against: `${median(ratios).toFixed(2)} × ± ${(spread(ratios) * 100).toFixed(0)} %`,
    },
    { what: 'creates per ADD', value: writes.toFixed(2), limit: 'one', isMet: writes === 1 },
    { what: 'reads per ADD', value: reads.toFixed(2), limit: 'none', isMet: reads === 0 },
  ]);
}

/** A Deployment with its ReplicaSet and the pool that the controller would make for it; what its pods say about themselves. */
async function createApplication(site: ClusterSite): Promise<PodMetadata> {
  type Made = { readonly metadata: { readonly uid: string } };
  const labels = { app: 'web-frontend' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main' }] } };
  const spec = { selector: { matchLabels: labels }, template };
  const name = 'web-frontend';
  const deployment = await site.create<Made>(`${APPS}/deployments`, { metadata: { name }, spec });
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: deployment.metadata.uid };
  const ownerReferences = [{ ...owner, controller: true }];
  const set = `${name}-7d9f8b6c5d`;
  const made = await site.create<Made>(`${APPS}/replicasets`, { metadata: { name: set, ownerReferences }, spec });
  const application = { ...owner, namespace: 'default' };
  const key = { subnet: 'office', application, interface: 'eth0', family: 4 as const };
  await site.createPool('auto4-web-frontend', '10.2.0.0-10.2.255.255', {
    labels: autoPoolLabels(key, { reclaim: true, cidr: parseCidr('10.0.0.0/8') }),
    podAffinity: { matchLabels: applicationAffinity(application) },
  });
  return {
    annotations: { 'ipam.spidernet.io/subnet': JSON.stringify({ ipv4: ['office'] }) },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set, uid: made.metadata.uid, controller: true },
    ],
  };
}

async function countRequests({ server }: ClusterSite): Promise<{ readonly reads: number; readonly writes: number }> {
  let reads = 0;
  for (const resource of READ)
    for (const verb of ['GET', 'LIST']) reads += await server.requestCount({ resource, verb });
  return { reads, writes: await server.requestCount({ resource: 'iprecords', verb: 'POST' }) };
}
