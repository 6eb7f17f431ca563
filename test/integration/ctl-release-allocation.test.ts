import { afterAll, beforeAll, expect, test } from 'vitest';
import { openClusterClient } from '#ctl/client/cluster-client.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { type AllocationStage, NAMESPACE, startAllocationStage } from './allocation-stage.ts';
import { connectWith } from './connect-with.ts';

let stage: AllocationStage;
/** With the rights of the operator and no others. */
let ctl: KubeClient;

beforeAll(async () => {
  stage = await startAllocationStage();
  ctl = await connectWith(stage.cluster.server, await plainToken(stage.cluster.server, 'ipledger-ctl'));
});
afterAll(async () => {
  ctl[Symbol.dispose]();
  await stage[Symbol.asyncDispose]();
});

test('release refuses while the IPAllocation exists; when it is gone, the address is given back', async () => {
  const allocation = await stage.allocation('vm-0');
  const holder = { kind: 'IPAllocation', namespace: NAMESPACE, name: 'vm-0', uid: allocation.metadata.uid } as const;
  const { taken, record } = await stage.ledger.create(
    heldBy(specOf('10.0.2.5'), { ...holder, interface: '', node: '' }),
  );
  if (!taken) throw new Error('not taken');
  const release = () => openClusterClient(ctl).release({ ...record, asOfMs: 0 });
  await expect(release()).rejects.toThrow(/^10\.0\.2\.5 is not released: IPAllocation datacenter-01\/vm-0 exists/);
  await stage.remove(allocation);
  await stage.untilGone('vm-0');
  expect(await release()).toEqual({ released: true });
  expect(await stage.records()).toEqual([]);
});
