import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { autoPoolLabels } from '#pkg/autopool/identity.ts';
import { formatShortages, SHORTAGE_CONDITION } from '#pkg/autopool/shortage.ts';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { applicationAffinity } from '#pkg/pool/auto-pool.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { callApi } from '#test/support/api-request.ts';
import { kubectl } from '#test/support/manifests.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { SpiderApi } from './crd-spider-api.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';

let cluster: LedgerCluster;
let spider: SpiderApi;
let kubeconfig: string;

const MARKER = '/api/v1/namespaces/ipledger/configmaps/ipledger-adopted';
const POOL = { spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.13'] } };

beforeAll(async () => {
  cluster = await startLedgerCluster();
  spider = new SpiderApi(cluster.server);
  kubeconfig = await writeOperatorsKubeconfig();
  expect((await spider.create('SpiderIPPool', 'v4', POOL)).status).toBe(201);
  expect((await spider.create('SpiderReservedIP', 'printer', { spec: { ips: ['10.0.0.13'] } })).status).toBe(201);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await cluster.clear();
  await callApi(cluster.server, { method: 'DELETE', path: MARKER, token: cluster.server.adminToken });
});

/** The rights of an operator with the role `ipledger-ctl` and nothing else. */
async function writeOperatorsKubeconfig(): Promise<string> {
  const { server } = cluster;
  const token = await plainToken(server, 'ipledger-ctl');
  const file = join(server.dir, 'operator.yaml');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': server.caFile } }],
    users: [{ name: 'operator', user: { token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'operator' } }],
    'current-context': 'c',
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

async function ctl(...args: string[]) {
  const terminal = openMemoryTerminal({ nowMs: Date.parse('2026-11-16T10:00:00Z') });
  const code = await runCtl(args, { kubeconfig }, terminal);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

async function hold(address: string, name = 'web-0', pool = 'v4'): Promise<void> {
  const ledger = openKubernetesLedger(cluster.agent());
  const spec = heldBy(specOf(address), { node: 'worker-1', name, namespace: 'prod', kind: 'Pod' });
  const created = await ledger.create({ ...spec, pool: { ...spec.pool, name: pool } });
  expect(created.taken).toBe(true);
  await ledger.close();
}

test('subnets: what is left, the pools with their application, and who waits', async () => {
  const application = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'prod', name: 'shop', uid: 'u-1' };
  const cidr = '10.7.0.0/24';
  const labels = autoPoolLabels(
    { subnet: 'office', application, interface: 'eth0', family: 4 },
    { reclaim: true, cidr: parseCidr(cidr) },
  );
  const why = formatShortages([{ application, interface: 'net1', why: 'required 9 more for 9 in all, left 4' }]);
  await spider.create('SpiderSubnet', 'office', { spec: { subnet: cidr, ips: ['10.7.0.10-10.7.0.19'] } });
  await spider.create('SpiderIPPool', 'auto4-shop', {
    metadata: { name: 'auto4-shop', labels },
    spec: {
      subnet: cidr,
      ips: ['10.7.0.10-10.7.0.15'],
      podAffinity: { matchLabels: applicationAffinity(application) },
    },
  });
  await callApi(cluster.server, {
    method: 'PATCH',
    path: '/apis/spiderpool.spidernet.io/v2beta1/spidersubnets/office/status',
    token: cluster.server.adminToken,
    body: {
      status: {
        conditions: [
          {
            type: SHORTAGE_CONDITION,
            status: 'True',
            reason: 'TooFew',
            message: why,
            lastTransitionTime: '2026-11-16T10:00:00Z',
          },
        ],
      },
    },
  });
  await hold('10.7.0.11', 'shop-1', 'auto4-shop');
  expect(JSON.parse((await ctl('subnets', '-o', 'json')).stdout)).toEqual({
    subnets: [
      {
        name: 'office',
        subnet: cidr,
        domain: 'default',
        total: '10',
        inPools: '6',
        free: '4',
        isTerminating: false,
        pools: [
          {
            name: 'auto4-shop',
            application: 'Deployment prod/shop',
            interface: 'eth0',
            used: '1',
            total: '6',
            ips: ['10.7.0.10-10.7.0.15'],
          },
        ],
        waiting: ['apps/v1 Deployment prod/shop net1: required 9 more for 9 in all, left 4'],
      },
    ],
    problems: [],
  });
  expect((await ctl('subnets')).stdout).toMatch(
    /^waiting for office: apps\/v1 Deployment prod\/shop net1: required 9/m,
  );
  expect(await ctl('subnets', '--socket', '/nowhere')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('only the API server can answer this') as string,
  });
  await spider.remove('SpiderIPPool', 'auto4-shop');
  await spider.remove('SpiderSubnet', 'office');
});

test('pools, list and who answer from the API server', async () => {
  await hold('10.0.0.11');
  const pools = await ctl('pools', '-o', 'json');
  expect(JSON.parse(pools.stdout)).toMatchObject({
    pools: [{ name: 'v4', total: '4', used: '1', free: '2', reserved: '1' }],
    problems: [],
  });
  expect((await ctl('list', '--pool', 'v4')).stdout).toMatch(/^10\.0\.0\.11.*prod\/web-0/m);
  expect(await ctl('who', '10.0.0.11')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('prod/web-0') as string,
  });
  expect(await ctl('who', '10.0.0.12')).toMatchObject({ code: 1, stdout: expect.stringContaining('v4') as string });
  expect((await ctl('list', '--pool', 'v5')).stderr).toContain('there is no pool v5');
});

test('check finds two addresses of one holder, and addresses outside their pool', async () => {
  await hold('10.0.0.11');
  expect(await ctl('check')).toMatchObject({ code: 0 });
  await hold('10.0.0.12');
  await hold('10.0.0.200', 'other');
  await hold('10.0.0.201', 'lost', 'gone');
  const { code, stdout } = await ctl('check', '-o', 'json');
  expect(code).toBe(1);
  const { findings } = JSON.parse(stdout) as { findings: { kind: string; subject: string }[] };
  expect(findings.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual([
    'duplicate-holder 10.0.0.11, 10.0.0.12',
    'outside-pool 10.0.0.200',
    'unknown-pool 10.0.0.201',
  ]);
});

test('check names addresses whose sandbox is not proven gone', async () => {
  await hold('10.0.0.11');
  const ledger = openKubernetesLedger(cluster.controller());
  const seen = await ledger.get('10.0.0.11');
  if (seen === null) throw new Error('the record is missing');
  await ledger.amend(seen, { ...seen.spec, state: 'Suspect' });
  await ledger.close();
  const { code, stdout } = await ctl('check');
  expect(code).toBe(1);
  expect(stdout).toMatch(/in-doubt +10\.0\.0\.11 +it is Suspect: .*prod\/web-0.* on worker-1 is not proven gone/);
});

test('release deletes exactly the record that was shown', async () => {
  await hold('10.0.0.11');
  expect(await ctl('release', '10.0.0.11', '--although-in-doubt', '--yes')).toMatchObject({ code: 0 });
  expect((await ctl('who', '10.0.0.11')).code).toBe(1);
});

test('release refuses the address of a living pod', async () => {
  const spec = { nodeName: 'worker-1', containers: [{ name: 'main', image: 'main' }] };
  const metadata = { name: 'alive', namespace: 'default' };
  const { server } = cluster;
  const pod = await callApi(server, {
    method: 'POST',
    path: '/api/v1/namespaces/default/pods',
    body: { metadata, spec },
    token: server.adminToken,
  });
  const { uid } = (pod.body as { metadata: { uid: string } }).metadata;
  const ledger = openKubernetesLedger(cluster.controller());
  const holder = { namespace: 'default', name: 'alive', uid };
  await ledger.create(heldBy({ ...specOf('10.0.0.11'), pool: { kind: 'SpiderIPPool', name: 'v4', uid: 'u' } }, holder));
  await ledger.close();
  const { code, stderr } = await ctl('release', '10.0.0.11', '--yes');
  expect([code, stderr]).toEqual([2, expect.stringContaining('pod default/alive is alive on node worker-1')]);
  expect((await ctl('who', '10.0.0.11')).code).toBe(0);
});

test('commands that need an agent are refused with --kubeconfig', async () => {
  const { code, stderr } = await ctl('explain', '--kubeconfig', kubeconfig);
  expect([code, stderr]).toEqual([2, expect.stringContaining('only the agent of a node')]);
});

test('a wrong kubeconfig is exit code 2 with the reason', async () => {
  const { code, stderr } = await ctl('pools', '--kubeconfig', '/nowhere');
  expect([code, stderr]).toEqual([2, expect.stringContaining('the kubeconfig cannot be read')]);
});

describe('import', () => {
  test('without state of another manager it marks the cluster as adopted, once', async () => {
    expect(await ctl('import', '--dry-run')).toMatchObject({ code: 0 });
    const absent = await callApi(cluster.server, { path: MARKER, token: cluster.server.adminToken });
    expect(absent.status).toBe(404);
    expect(await ctl('import')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('by system:serviceaccount:ipledger:ipledger-ctl') as string,
    });
    const { body } = await callApi(cluster.server, { path: MARKER, token: cluster.server.adminToken });
    expect(body).toMatchObject({
      data: { adoptedAt: '2026-11-16T10:00:00.000Z', adoptedBy: 'system:serviceaccount:ipledger:ipledger-ctl' },
    });
    expect(await ctl('import')).toMatchObject({
      code: 0,
      stdout: 'Adopted at 2026-11-16T10:00:00.000Z by system:serviceaccount:ipledger:ipledger-ctl.\n',
    });
  });

  const giveOut = async () => {
    const patch = JSON.stringify({ status: { allocatedIPs: '{"10.0.0.10":{"pod":"prod/old","podUid":"u"}}' } });
    const how = ['--subresource=status', '--type=merge', `--patch=${patch}`];
    await kubectl(cluster.server, ['patch', 'spiderippool', 'v4', ...how]);
    const ips = [{ interface: 'net1', ipv4: '10.0.0.12/24', ipv4Pool: 'v4' }];
    const status = { ownerControllerType: 'Pod', ownerControllerName: 'old', current: { uid: 'u2', node: 'n', ips } };
    expect((await spider.create('SpiderEndpoint', 'old', { status })).status).toBe(201);
  };
  const markerStatus = async () =>
    (await callApi(cluster.server, { path: MARKER, token: cluster.server.adminToken })).status;

  test('it refuses while Spiderpool may still give out addresses, and imports once it may not', async () => {
    await giveOut();
    await kubectl(cluster.server, ['create', 'serviceaccount', 'spiderpool-agent', '--namespace=default']);
    const right = ['--verb=update', '--resource=spiderippools/status'];
    await kubectl(cluster.server, ['create', 'clusterrole', 'spiderpool-agent', ...right]);
    const bound = ['--clusterrole=spiderpool-agent', '--serviceaccount=default:spiderpool-agent'];
    await kubectl(cluster.server, ['create', 'clusterrolebinding', 'spiderpool-agent', ...bound]);
    const refused = await ctl('import');
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('Not adopted. Spiderpool gave out 2 addresses without a record here.');
    expect(refused.stdout).toContain('may still give out addresses: service account default/spiderpool-agent');
    expect(await markerStatus()).toBe(404);
    await kubectl(cluster.server, ['delete', 'clusterrolebinding', 'spiderpool-agent']);

    const dry = await ctl('import', '--dry-run');
    expect(dry.code).toBe(0);
    expect(dry.stdout).toMatch(/^10\.0\.0\.10 +v4 +prod\/old +eth0/m);
    expect(dry.stdout).toMatch(/^10\.0\.0\.12 +v4 +default\/old +net1 +n$/m);
    expect(await markerStatus()).toBe(404);

    const done = await ctl('import');
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Records made for 2 addresses') as string });
    expect(await markerStatus()).toBe(200);
    expect((await ctl('who', '10.0.0.10')).stdout).toContain('prod/old');
    expect((await ctl('import')).stdout).toMatch(/^Adopted at .* by system:serviceaccount:ipledger:ipledger-ctl\.$/m);
  });

  test('a status that cannot be read stops it', async () => {
    const how = ['--subresource=status', '--type=merge', `--patch={"status":{"allocatedIPs":"{"}}`];
    await kubectl(cluster.server, ['patch', 'spiderippool', 'v4', ...how]);
    const { code, stdout } = await ctl('import');
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('unreadable: pool v4: status.allocatedIPs cannot be read'),
    ]);
    expect(await markerStatus()).toBe(404);
  });
});
