import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { callApi } from '#test/support/api-request.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';

const SECRET = 'c2VjcmV0LXRoYXQtbXVzdC1zdGF5';
const NAMESPACE = 'ipledger';
let cluster: LedgerCluster;

beforeAll(async () => {
  cluster = await startLedgerCluster();
  const create = async (path: string, body: object) => {
    const { status, body: answer } = await callApi(cluster.server, {
      method: 'POST',
      path,
      body,
      token: cluster.server.adminToken,
    });
    expect(status, JSON.stringify(answer)).toBe(201);
  };
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const labelsOf = (name: string) => ({ 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'agent' });
  const env = [
    { name: 'TOKEN', value: SECRET },
    { name: 'IPLEDGER_LOG_LEVEL', value: 'debug' },
  ];
  await create(`${core}/secrets`, { metadata: { name: 'hidden' }, stringData: { key: SECRET } });
  await create(`${core}/configmaps`, { metadata: { name: 'of-others' }, data: { key: SECRET } });
  await create(`${core}/configmaps`, {
    metadata: { name: 'spiderpool-conf' },
    data: { 'conf.yml': 'enableIPv4: true' },
  });
  await create(`${core}/pods`, {
    metadata: { name: 'agent-1', labels: labelsOf('ipledger') },
    spec: { containers: [{ name: 'main', image: 'i', env }], terminationGracePeriodSeconds: 0 },
  });
  // An agent of another product in our namespace. Its arguments and its log are not ours to send.
  const args = [`--password=${SECRET}`];
  const foreign = { containers: [{ name: 'main', image: 'i', args }], terminationGracePeriodSeconds: 0 };
  await create(`${core}/pods`, { metadata: { name: 'agent-of-others', labels: labelsOf('backup') }, spec: foreign });
  for (const name of ['ipledger', 'backup']) {
    const labels = labelsOf(name);
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'i' }] } };
    const spec = { selector: { matchLabels: labels }, template };
    const workload = name === 'ipledger' ? spec : { ...spec, template: { ...template, spec: foreign } };
    for (const plural of ['deployments', 'daemonsets']) {
      const path = `/apis/apps/v1/namespaces/${NAMESPACE}/${plural}`;
      await create(path, { metadata: { name: `agent-of-${name}`, labels }, spec: workload });
    }
  }
  const event = (name: string, reportingComponent: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', name: 'web-0', namespace: NAMESPACE },
    reason: 'IPPoolExhausted',
    reportingComponent,
    reportingInstance: 'x',
    action: 'Allocate',
    type: 'Warning',
    eventTime: '2026-11-18T20:00:00.000000Z',
  });
  await create(`${core}/events`, event('ours', 'ipledger.io/agent'));
  await create(`${core}/events`, event('of-others', 'kubelet'));
  const ledger = openKubernetesLedger(cluster.agent());
  expect((await ledger.create(specOf('10.0.0.5'))).taken).toBe(true);
  await ledger.close();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

/** The text of every file of the archive by its path, and what the command printed. */
async function collect(kubeconfig: string) {
  const directory = mkdtempSync(join(tmpdir(), 'ipledger-support-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'support.tar.gz');
  const terminal = openMemoryTerminal();
  const code = await runCtl(['support', '--file', file, '--kubeconfig', kubeconfig], {}, terminal);
  const paths = spawnSync('tar', ['-tzf', file], { encoding: 'utf8' }).stdout.trim().split('\n');
  const textOf = (path: string) => spawnSync('tar', ['-xzOf', file, path], { encoding: 'utf8' }).stdout;
  const files = new Map(paths.map((path) => [path.split('/').slice(1).join('/'), textOf(path)]));
  return { code, stdout: terminal.stdout, files, all: [...files.values()].join('\n') };
}

const namesIn = (text: string | undefined) =>
  (JSON.parse(text ?? '[]') as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

test('an archive of a cluster has settings, workloads, the ledger and our Events, and no secret', async () => {
  const { code, files, all } = await collect(cluster.server.kubeconfigFile);
  expect(code).toBe(0);
  expect(namesIn(files.get('settings/config-maps.json'))).toEqual(['spiderpool-conf']);
  expect(namesIn(files.get('workloads/pods.json'))).toContain('agent-1');
  for (const file of ['deployments', 'daemon-sets']) {
    expect(namesIn(files.get(`workloads/${file}.json`))).toEqual(['agent-of-ipledger']);
  }
  expect(namesIn(files.get('ledger/records.json'))).toEqual(['10.0.0.5']);
  expect(namesIn(files.get('events/agent.json'))).toEqual(['ours']);
  expect(files.get('versions/api-server.txt')).toMatch(/^v1\.\d+/);
  expect(files.get('workloads/pods.json')).toContain('"debug"');
  expect(all).not.toContain(SECRET);
  expect(all).not.toContain('managedFields');
  // No kubelet runs here, and it is kubelet that has the logs of pods.
  expect(files.get('missing.txt')).toMatch(/^logs\/ipledger-agent-worker-0\.main\.log: /m);
});

test('the role for it covers everything but what a kubelet has', async () => {
  const { server } = cluster;
  await applyManifests(server, 'rbac-support.yaml');
  const kubeconfig = join(server.dir, 'supporter.yaml');
  const adminToken = await plainToken(server, 'ipledger-ctl');
  await writeKubeconfig(kubeconfig, server.url, { caFile: server.caFile, adminToken });
  const { code, files } = await collect(kubeconfig);
  await kubectl(server, ['delete', '--filename', join(import.meta.dirname, '../../deploy/rbac-support.yaml')]);
  expect(code).toBe(0);
  const missing = (files.get('missing.txt') ?? '').split('\n').filter((line) => line !== '');
  expect(missing.length).toBeGreaterThan(0);
  expect(missing.filter((line) => !/^(logs|metrics)\//.test(line) || line.includes('Forbidden'))).toEqual([]);
  expect(namesIn(files.get('events/agent.json'))).toEqual(['ours']);
});

test('what the rights do not cover is named, and the rest is there', async () => {
  const { server } = cluster;
  const kubeconfig = join(server.dir, 'operator.yaml');
  const adminToken = await plainToken(server, 'ipledger-ctl');
  await writeKubeconfig(kubeconfig, server.url, { caFile: server.caFile, adminToken });
  const { code, files } = await collect(kubeconfig);
  expect(code).toBe(0);
  expect(files.get('missing.txt')).toMatch(/^workloads\/deployments\.json: Forbidden: /m);
  expect(namesIn(files.get('ledger/records.json'))).toEqual(['10.0.0.5']);
});
