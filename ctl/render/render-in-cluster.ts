import type { InClusterImport } from '#pkg/adopt/in-cluster.ts';

const MOST_SHOWN = 20;

/** What was made, and what the operator has to do: nothing of the other provider is changed here. */
export function renderInCluster({ dryRun, pool, records, collisions }: InClusterImport): string {
  const made = dryRun ? 'would be made' : 'made';
  const what = pool.wasThere ? 'is there already' : `${made}, disabled`;
  const lines = [
    `SpiderIPPool ${pool.name} ${what}: ${pool.ranges.join(', ')}`,
    ...(pool.leftOutGateway === null ? [] : [describeGateway(pool.name, pool.leftOutGateway)]),
    `Records ${made}: ${records.length}.`,
    ...limited(records.map(({ address, holder }) => `  ${address}  ${holder.namespace}/${holder.name}`)),
    ...limited(collisions.map((line) => `collision: ${line}`)),
  ];
  return `${[...lines, ...nextSteps(pool.name)].join('\n')}\n`;
}

/** That provider writes such a gateway into its IPAddresses. */
function describeGateway(pool: string, gateway: string): string {
  return `warning: the gateway ${gateway} of the old pool is outside of its subnet and was left out: IPAddresses of ${pool} name no gateway. Set it in the machines, or widen spec.subnet and set spec.gateway.`;
}

function limited(lines: readonly string[]): readonly string[] {
  const left = lines.length - MOST_SHOWN;
  return left <= 0 ? lines : [...lines.slice(0, MOST_SHOWN), `… and ${left} more`];
}

/** The spec of a claim never changes, so a machine changes its provider when it is replaced. */
function nextSteps(pool: string): readonly string[] {
  return [
    '',
    'Next, by hand:',
    '1. Let the in-cluster pool give out nothing new, for example with all free addresses in its excludedAddresses, and import again.',
    `2. kubectl patch spiderippool ${pool} --type=merge -p '{"spec":{"disable":false}}'`,
    '3. In the machine templates replace the reference to the old pool by',
    `     { apiGroup: spiderpool.spidernet.io, kind: SpiderIPPool, name: ${pool} }`,
    '   and roll the machines out. The claims above keep their addresses until their machines are replaced.',
    '4. `ipledgerctl check` then lists the records whose claims are gone; `ipledgerctl release ADDRESS` ends each.',
  ];
}
