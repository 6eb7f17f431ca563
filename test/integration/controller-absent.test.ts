import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { CHART, CRD_CHART, mustHelm } from '#test/support/helm.ts';
import { kubectl, waitUntilServed } from '#test/support/manifests.ts';

const ROOT = join(import.meta.dirname, '../..');
const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const PATIENCE = { timeout: 60_000, interval: 200 };

test('the runbook lets pools be changed while no controller runs, and Helm brings the webhooks back', async () => {
  await using server = await startApiServer();
  await mustHelm(server, 'install', 'ipledger-crds', CRD_CHART, '--create-namespace');
  await waitUntilServed(server, POOLS);
  await mustHelm(server, 'install', 'ipledger', CHART);
  const [deletion, restoration] = await commandsOfTheRunbook();
  // The API server takes up the configurations some time after they were stored.
  await vi.waitFor(async () => expect((await tryPool(server)).message).toContain('failed calling webhook'), PATIENCE);

  await kubectl(server, deletion ?? []);
  await vi.waitFor(async () => expect(await tryPool(server)).toMatchObject({ status: 201 }), PATIENCE);

  await mustHelm(server, ...(restoration ?? []).map((word) => (word === 'deploy/chart' ? CHART : word)));
  await vi.waitFor(async () => expect((await tryPool(server)).message).toContain('failed calling webhook'), PATIENCE);
  const manifests = parseAllDocuments(await readFile(join(ROOT, 'deploy/webhook.yaml'), 'utf8'));
  for (const { kind, metadata } of manifests.map((it) => it.toJS())) {
    const found = await kubectl(server, ['get', kind, metadata.name, '--namespace=ipledger', '--output=name']);
    expect(found).toContain(`/${metadata.name}`);
  }
});

/** The words of `kubectl delete …` and of `helm upgrade …` without the program. */
async function commandsOfTheRunbook(): Promise<string[][]> {
  const page = await readFile(join(ROOT, 'docs/runbooks.md'), 'utf8');
  const [, section = ''] = page.split('\n### IpledgerControllerAbsent\n');
  return [...section.matchAll(/^(?:kubectl delete|helm upgrade) [^#\n]*/gm)].map(([command]) =>
    command.trim().split(/\s+/).slice(1),
  );
}

async function tryPool(server: ApiServer): Promise<{ status: number; message: string }> {
  const body = {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    metadata: { name: 'urgent' },
    spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.10'] },
  };
  const path = `${POOLS}?dryRun=All`;
  const answer = await callApi(server, { method: 'POST', path, body, token: server.adminToken });
  return { status: answer.status, message: String((answer.body as { message?: string }).message ?? '') };
}
