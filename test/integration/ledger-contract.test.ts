import { afterAll, beforeAll, expect } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { describeLedger } from '#test/contract/ledger-contract.ts';
import type { RunningServer } from '#test/support/api-server.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { ledgerByRole } from './ledger-by-role.ts';
import { joinLedgerCluster, type LedgerCluster } from './ledger-cluster.ts';

const server = useSharedServer();
let cluster: LedgerCluster<RunningServer>;
let controller: KubeClient;
let agents: ReadonlyMap<string, KubeClient>;
const writes = { agent: 0, controller: 0 };

beforeAll(async () => {
  cluster = await joinLedgerCluster(server);
  controller = cluster.controller();
  agents = new Map(['worker-0', 'worker-1', 'worker-2'].map((node) => [node, cluster.agent({ node })]));
  return () => cluster[Symbol.asyncDispose]();
});

/** The controller may do all of the contract by itself; the agents' policy does not bind it. */
describeLedger('kubernetes, the controller alone', async () => {
  await cluster.clear();
  const ledger = openKubernetesLedger(controller);
  return { ledger, [Symbol.asyncDispose]: () => ledger.close() };
});

/** The whole contract once more under the policy, with the agents' own tokens for all that is theirs. */
describeLedger('kubernetes, agents with pod-bound tokens and the controller', async () => {
  await cluster.clear();
  const ledger = ledgerByRole({
    agents: new Map([...agents].map(([node, client]) => [node, openKubernetesLedger(client)])),
    controller: openKubernetesLedger(controller),
    onWrite: (by) => {
      writes[by] += 1;
    },
  });
  return { ledger, [Symbol.asyncDispose]: () => ledger.close() };
});

afterAll(() => {
  expect(writes.agent).toBeGreaterThan(writes.controller);
});
