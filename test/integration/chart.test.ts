import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { helmTemplate, RENDERED, renderManifests } from '#hack/chart-manifests.ts';
import { toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { CHART, CRD_CHART, findHelm, mustHelm, runHelm } from '#test/support/helm.ts';
import { kubectl, waitUntilServed } from '#test/support/manifests.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Kinds of others, which are not installed here. */
const FOREIGN = ['monitoring.coreos.com', 'cert-manager.io'];
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const JOB = '/apis/batch/v1/namespaces/ipledger/jobs/ipledger-uninstall';
const PATIENCE = { timeout: 60_000, interval: 100 };

let helm: string;
let server: ApiServer;
beforeAll(async () => {
  helm = await findHelm();
  server = await startApiServer();
  await kubectl(server, ['create', 'namespace', 'ipledger', '--save-config']);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

test('the manifests in deploy/ are what the chart renders; if not, run hack/generate', async () => {
  for (const { path, text } of renderManifests(helm)) {
    expect([path, await readFile(join(ROOT, path), 'utf8')]).toEqual([path, text]);
    // There, an operator edits config.yaml by hand: a hash would be that of other settings.
    expect([path, text]).not.toEqual([path, expect.stringContaining('checksum/')]);
  }
  const files = (await readdir(join(ROOT, 'deploy'))).filter((name) => name.endsWith('.yaml'));
  expect(files.sort()).toEqual(Object.keys(RENDERED).sort());
});

test.each(['chart', 'chart-crds'])('helm lint finds nothing in deploy/%s', async (name) => {
  const said = await mustRun(helm, 'lint', '--strict', join(ROOT, 'deploy', name));
  expect(said).toContain('0 chart(s) failed');
});

const ON = [
  'clusterAPI.enabled',
  'vitistack.enabled',
  'support.enabled',
  'namespace.create',
  'podMonitor.install',
  'serviceMonitor.install',
  'prometheusRule.install',
  'grafanaDashboard.install',
];
const OFF = [
  'webhook.enabled',
  'flowControl.enabled',
  'uninstall.refuseWhileInUse',
  'ipam.spiderSubnet.enable',
  'ipam.spiderSubnet.autoPool.enable',
  'ipam.gc.enabled',
  'ipam.gc.statelessPod.zombieOnReadyNode',
  'ipam.gc.statelessPod.zombieOnNotReadyNode',
  'spiderpoolController.podDisruptionBudget.enabled',
  'spiderpoolController.prometheus.enabled',
  'spiderpoolAgent.prometheus.enabled',
];
const set = (names: readonly string[], value: string) => names.map((name) => `--set=${name}=${value}`);

test.each([
  { name: 'as shipped', flags: [], foreign: 0 },
  {
    name: 'with every switch on',
    flags: [
      ...set(ON, 'true'),
      '--set=spiderpoolController.tls.method=certmanager',
      '--set=spiderpoolAgent.seLinuxOptions.type=spc_t',
      '--set=image.registry=registry.example:5000,image.pullPolicy=Always,image.imagePullSecrets[0].name=pull',
      '--set=spiderpoolAgent.podLabels.team=net,spiderpoolAgent.podAnnotations.note=x,podMonitor.labels.release=prom',
      '--set=spiderpoolAgent.extraEnv[0].name=A,spiderpoolAgent.extraEnv[0].value=b',
      '--set=ipam.extraConfig.probeCount=2,podMonitor.interval=30s,ipam.gc.gcDeletingTimeOutPodDelay=5',
    ],
    foreign: 7,
  },
  { name: 'with every switch off', flags: set(OFF, 'false'), foreign: 0 },
  { name: 'with a certificate of the operator', flags: ['--set=spiderpoolController.tls.method=provided'], foreign: 0 },
])('the API server takes every object of the chart $name', async ({ flags, foreign }) => {
  const all = parseAllDocuments(helmTemplate(helm, flags))
    .map((it) => it.toJS())
    .filter((it) => it !== null);
  const ours = all.filter(({ apiVersion }) => !FOREIGN.some((group) => apiVersion.startsWith(group)));
  expect(all.length - ours.length).toBe(foreign);
  expect(ours.length).toBeGreaterThan(20);
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: ours });
  const words = [`--kubeconfig=${server.kubeconfigFile}`, 'apply', '--dry-run=server', '--validate=strict', '-f', '-'];
  const { code, stderr } = await runProgram(await kubectlProgram(), words, { stdin: list });
  expect([code, stderr]).toEqual([0, '']);
});

async function kubectlProgram(): Promise<string> {
  return join((await mustRun(join(ROOT, 'hack/kube-assets'), '--no-build')).trim(), 'kubectl');
}

test.each([
  { name: 'a word for a switch', flag: 'ipam.enableIPv4=perhaps', says: '/ipam/enableIPv4' },
  { name: 'a value that is not there', flag: 'ipam.enableIpv4=true', says: 'enableIpv4' },
  { name: 'a setting of Spiderpool that is not ours', flag: 'multus.multusCNI.install=true', says: 'multus' },
  { name: 'no replica', flag: 'spiderpoolController.replicas=0', says: '/spiderpoolController/replicas' },
  { name: 'a level of logging', flag: 'spiderpoolAgent.debug.logLevel=loud', says: '/spiderpoolAgent/debug/logLevel' },
  {
    name: 'a way to certificates',
    flag: 'spiderpoolController.tls.method=none',
    says: '/spiderpoolController/tls/method',
  },
  { name: 'a way to install the plugin', flag: 'plugin.asSpiderpool=maybe', says: '/plugin/asSpiderpool' },
  { name: 'a digest', flag: 'image.digest=abc', says: '/image/digest' },
  { name: 'a setting of conf.yml that nothing reads', flag: 'ipam.extraConfig.probeCounts=2', says: 'probeCounts' },
  { name: 'a setting out of its range', flag: 'ipam.extraConfig.probeCount=11', says: '/ipam/extraConfig/probeCount' },
  { name: 'a setting that has a value of its own', flag: 'ipam.extraConfig.enableIPv4=false', says: 'enableIPv4' },
  {
    name: 'a CA that is none',
    flag: 'spiderpoolController.tls.caBundle=LS0t',
    says: '/spiderpoolController/tls/caBundle',
  },
  { name: 'a relative path', flag: 'global.cniBinHostPath=opt', says: '/global/cniBinHostPath' },
])('refused, with its path: $name', async ({ flag, says }) => {
  const { code, stdout } = await runProgram(helm, ['lint', CHART, `--set=${flag}`]);
  expect([code, stdout]).toEqual([1, expect.stringContaining(says)]);
});

test.each(['never', 'if-absent', 'always'])('the plugin is installed as spiderpool: %s', (when) => {
  const all = parseAllDocuments(helmTemplate(helm, [`--set=plugin.asSpiderpool=${when}`])).map((it) => it.toJS());
  const [installer] = all.find((it) => it?.kind === 'DaemonSet').spec.template.spec.initContainers;
  expect(installer.args).toContain(`--as-spiderpool=${when}`);
});

const CA = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

test.each(
  ['auto', 'certmanager', 'provided'].flatMap((method) => [true, false].map((webhook) => ({ method, webhook }))),
)(
  'certificates of method $method, webhook $webhook: what a pod needs is there, and nothing else',
  ({ method, webhook }) => {
    const flags = [`--set=webhook.enabled=${webhook},spiderpoolController.tls.method=${method}`];
    const text = helmTemplate(helm, [...flags, `--set=spiderpoolController.tls.caBundle=${CA}`]);
    const all = parseAllDocuments(text).flatMap((it) => it.toJS() ?? []);
    const { spec } = all.find(({ kind }) => kind === 'Deployment').spec.template;
    const takesFiles = webhook && method !== 'auto';
    const mounted = ['config', ...(takesFiles ? ['webhook-certificate'] : [])];
    expect(spec.volumes.map(({ name }: { name: string }) => name)).toEqual(mounted);
    expect(spec.containers[0].volumeMounts.map(({ name }: { name: string }) => name)).toEqual(mounted);
    const variables = spec.containers[0].env.map(({ name }: { name: string }) => name);
    expect(variables.filter((name: string) => name.includes('_TLS_'))).toHaveLength(takesFiles ? 2 : 0);
    expect(all.filter(({ kind }) => kind === 'Certificate')).toHaveLength(webhook && method === 'certmanager' ? 1 : 0);
    const webhooks = all.flatMap((it) => it.webhooks ?? []);
    const bundle = method === 'provided' ? Buffer.from(CA).toString('base64') : undefined;
    expect(webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual(Array(webhook ? 6 : 0).fill(bundle));
  },
);

test('what Prometheus and Grafana select by a label gets the labels of its value, beside its own', () => {
  const values = { podMonitor: 2, serviceMonitor: 2, prometheusRule: 1, grafanaDashboard: 1 };
  const flags = Object.keys(values).flatMap((name) => [
    `--set=${name}.install=true`,
    `--set=${name}.labels.of=${name}`,
  ]);
  const all = parseAllDocuments(helmTemplate(helm, flags)).map((it) => it.toJS()?.metadata.labels);
  for (const [name, count] of Object.entries(values)) {
    expect([name, all.filter((labels) => labels?.of === name)]).toMatchObject([name, { length: count }]);
  }
  expect(all).toContainEqual({ 'app.kubernetes.io/name': 'ipledger', of: 'prometheusRule' });
});

test('the alerts name the namespace of the chart', () => {
  const rendered = helmTemplate(helm, ['--set=prometheusRule.install=true', '--namespace=elsewhere']);
  const rule = parseAllDocuments(rendered).find((it) => it.get('kind') === 'PrometheusRule');
  expect(rule?.toString()).toContain('kubectl -n elsewhere ');
  expect(rule?.toString()).not.toMatch(/-n ipledger|namespace: ipledger/);
});

test.each(['DaemonSet', 'Deployment'])('a changed setting, and nothing else, restarts the pods of the %s', (kind) => {
  const annotationsWith = (...flags: string[]) => {
    const all = parseAllDocuments(helmTemplate(helm, flags)).map((it) => it.toJS());
    const { annotations } = all.find((it) => it?.kind === kind).spec.template.metadata;
    return annotations as Readonly<Record<string, string>>;
  };
  const noted = `--set=spiderpoolAgent.podAnnotations.note=x,spiderpoolController.podAnnotations.note=x`;
  const before = annotationsWith();
  expect(before).toEqual({ 'checksum/config': expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(annotationsWith(noted, '--set=image.tag=next')).toEqual({ ...before, note: 'x' });
  for (const flag of ['ipam.enableIPv6=false', 'ipam.extraConfig.probeCount=2']) {
    expect(annotationsWith(`--set=${flag}`)['checksum/config']).not.toBe(before['checksum/config']);
  }
});

test('install, upgrade and rollback keep every record; uninstall waits for a yes, and keeps kinds and records', async () => {
  await mustHelm(server, 'install', 'ipledger-crds', CRD_CHART);
  await waitUntilServed(server, RECORDS);
  await mustHelm(server, 'install', 'ipledger', CHART);
  await applyRecord();
  const uid = await recordUid();
  await mustHelm(server, 'upgrade', 'ipledger', CHART, '--set=image.tag=next,spiderpoolController.replicas=1');
  expect(await imageOfAgent()).toBe('ipledger:next');
  await mustHelm(server, 'upgrade', 'ipledger-crds', CRD_CHART);
  await mustHelm(server, 'rollback', 'ipledger', '1');
  expect([await imageOfAgent(), await recordUid()]).toEqual(['ipledger:0.1.0', uid]);

  const refused = runHelm(server, 'uninstall', 'ipledger');
  await endJob('Failed');
  expect(await refused).toMatchObject({ code: 1, stderr: expect.stringContaining('job ipledger-uninstall failed') });
  expect(await imageOfAgent()).toBe('ipledger:0.1.0');
  const agreed = runHelm(server, 'uninstall', 'ipledger');
  await endJob('Complete');
  expect(await agreed).toMatchObject({ code: 0 });
  await mustHelm(server, 'uninstall', 'ipledger-crds');
  expect(await recordUid()).toBe(uid);
});

test('the kind of Vitistack comes with its switch, is upgraded with the chart, and stays without it', async () => {
  const name = 'crd/ipallocations.vitistack.io';
  const find = () => kubectl(server, ['get', name, '--ignore-not-found', '--output=name']);
  await mustHelm(server, 'upgrade', '--install', 'ipledger-crds', CRD_CHART);
  expect(await find()).toBe('');
  await mustHelm(server, 'upgrade', 'ipledger-crds', CRD_CHART, '--set=vitistack.enabled=true');
  expect(await find()).toBe('customresourcedefinition.apiextensions.k8s.io/ipallocations.vitistack.io\n');
  const chart = join(server.dir, 'next-crds');
  await mustRun('cp', '--recursive', CRD_CHART, chart);
  await mustRun(
    'sed',
    '--in-place',
    's/- ipa$/- ipa\\n      - ipal/',
    join(chart, 'templates/vitistack.io_ipallocations.yaml'),
  );
  await mustHelm(server, 'upgrade', 'ipledger-crds', chart, '--set=vitistack.enabled=true');
  expect(await kubectl(server, ['get', name, '--output=jsonpath={.spec.names.shortNames}'])).toBe('["ipa","ipal"]');
  await mustHelm(server, 'upgrade', 'ipledger-crds', CRD_CHART, '--set=vitistack.enabled=false');
  expect(await find()).toContain('ipallocations');
  await mustHelm(server, 'uninstall', 'ipledger-crds');
  expect(await find()).toContain('ipallocations');
});

async function recordUid(): Promise<string> {
  const { body } = await callApi(server, { path: `${RECORDS}/10.24.0.10`, token: server.adminToken });
  return (body as { metadata: { uid: string } }).metadata.uid;
}

async function applyRecord(): Promise<void> {
  const { spec } = buildRecord({ address: '10.24.0.10' });
  const body = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', ...toNewObject(spec) };
  const { status } = await callApi(server, { method: 'POST', path: RECORDS, token: server.adminToken, body });
  expect(status).toBe(201);
}

async function imageOfAgent(): Promise<string> {
  const path = '-o=jsonpath={.spec.template.spec.containers[0].image}';
  return await kubectl(server, ['get', 'daemonset', 'ipledger-agent', '--namespace=ipledger', path]);
}

/** There is no kubelet here: the Job of the hook ends as the test says. */
async function endJob(outcome: 'Complete' | 'Failed'): Promise<void> {
  interface Job {
    readonly metadata: { readonly deletionTimestamp?: string };
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly [{ readonly args: string[] }] } };
    };
    readonly status: { readonly conditions?: readonly object[] };
  }
  const job = await vi.waitUntil(async () => {
    const { status, body } = await callApi(server, { path: JOB, token: server.adminToken });
    const found = body as Job;
    return status === 200 && found.status.conditions === undefined ? found : null;
  }, PATIENCE);
  expect(job.spec.template.spec.containers[0].args).toEqual(['in-use']);
  const startTime = new Date().toISOString();
  const conditions = (...types: string[]) =>
    types.map((type) => ({ type, status: 'True', lastTransitionTime: startTime }));
  const status =
    outcome === 'Complete'
      ? { startTime, completionTime: startTime, succeeded: 1, conditions: conditions('SuccessCriteriaMet', 'Complete') }
      : { startTime, failed: 1, conditions: conditions('FailureTarget', 'Failed') };
  const answer = await callApi(server, {
    method: 'PATCH',
    path: `${JOB}/status`,
    token: server.adminToken,
    body: { status },
  });
  expect([answer.status, answer.body]).toMatchObject([200, {}]);
}
