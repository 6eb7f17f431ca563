import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineServer } from '#pkg/kube/client/examine-server.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';

let cluster: LedgerCluster;

beforeAll(async () => {
  cluster = await startLedgerCluster();
});
afterAll(() => cluster[Symbol.asyncDispose]());

const warningsOf = async (account: 'agent' | 'controller') => {
  const examined = await examineServer(cluster[account]());
  expect(examined).toMatchObject({ ok: true, object: { version: expect.stringMatching(/^v1\.\d+\.\d+/) } });
  return examined.ok ? examined.object.warnings : [];
};

test.each(['agent', 'controller'] as const)('the %s sees whether the shipped policy is in force', async (account) => {
  const { server } = cluster;
  expect(await warningsOf(account)).toEqual([]);
  const binding = 'validatingadmissionpolicybinding/ipledger-agent-records';
  await kubectl(server, ['patch', binding, '--type=merge', '--patch={"spec":{"validationActions":["Audit"]}}']);
  expect(await warningsOf(account)).toEqual([expect.stringContaining('does not deny anything')]);
  await kubectl(server, ['delete', binding]);
  expect(await warningsOf(account)).toEqual([expect.stringContaining('is missing')]);
  await applyManifests(server, 'admission-policy.yaml');
  expect(await warningsOf(account)).toEqual([]);
});
