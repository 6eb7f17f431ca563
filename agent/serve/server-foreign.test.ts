import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ConflictReleaseOptions } from '#agent/release/conflict-release.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { callAsSpiderpool } from '#test/support/spiderpool-call.ts';
import { buildServer } from './server.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10'], gateway: '10.0.0.1', isDefault: true });
const SANDBOX = { containerID: 'c1', podNamespace: 'prod', podName: 'web-0', podUID: 'uid-1' };
const ADD = {
  ...SANDBOX,
  ifName: 'eth0',
  netNamespace: '/proc/self/ns/net',
  defaultIPv4IPPool: [],
  defaultIPv6IPPool: [],
  cleanGateway: false,
};
const DEL = { ...SANDBOX, ifName: 'eth0', netNamespace: '' };

let sockets = 0;

async function serve(options: ConflictReleaseOptions = {}, record = buildRecord({ address: '10.0.9.9' })) {
  const ledger = createMemoryLedger();
  await ledger.create(record.spec);
  const made = await startMemoryAgent([POOL], { ledger });
  const server = buildServer(made.agent, pino({ level: 'silent' }), options);
  sockets += 1;
  const path = join(tmpdir(), `ipledger-foreign-${process.pid}-${sockets}.sock`);
  await server.listen(path);
  const call = (method: string, url: string, body?: object) => callAsSpiderpool(path, method, url, body);
  return {
    call,
    async [Symbol.asyncDispose]() {
      await server.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

test('health is 200 without a body, and the connection is closed as asked', async () => {
  await using agent = await serve();
  expect(await agent.call('GET', '/v1/ipam/healthy')).toMatchObject({ status: 200, body: '', isClosed: true });
});

test('ADD, endpoint, DEL: the words of a pod that comes and goes', async () => {
  await using agent = await serve();
  const added = await agent.call('POST', '/v1/ipam/ip', ADD);
  expect([added.status, added.type, added.isClosed]).toEqual([200, 'application/json', true]);
  expect(JSON.parse(added.body)).toEqual({
    ips: [
      {
        version: 4,
        address: '10.0.0.10/24',
        nic: 'eth0',
        ipPool: 'v4',
        gateway: '10.0.0.1',
        enableGatewayDetection: false,
        enableIPConflictDetection: false,
      },
    ],
    routes: [{ ifName: 'eth0', dst: '0.0.0.0/0', gw: '10.0.0.1' }],
  });
  const endpoint = await agent.call('GET', '/v1/workloadendpoint?podName=web-0&podNamespace=prod');
  expect([endpoint.status, endpoint.type]).toEqual([200, 'application/json']);
  expect(JSON.parse(endpoint.body)).toMatchObject({
    podName: 'web-0',
    interfaces: [{ interface: 'eth0', ipv4Pool: 'v4' }],
  });
  expect(await agent.call('DELETE', '/v1/ipam/ip', DEL)).toMatchObject({ status: 200, body: '' });
  expect((await agent.call('GET', '/v1/workloadendpoint?podName=web-0&podNamespace=prod')).status).toBe(404);
  expect(await agent.call('DELETE', '/v1/ipam/ip', DEL)).toMatchObject({ status: 200, body: '' });
});

test.each<{ name: string; call: [method: string, url: string, body: object]; says: string }>([
  {
    name: 'a full pool',
    call: ['POST', '/v1/ipam/ip', { ...ADD, containerID: 'c2', podUID: 'u2', podName: 'w' }],
    says: 'v4 1/1 used',
  },
  {
    name: 'an unknown pool',
    call: ['POST', '/v1/ipam/ip', { ...ADD, containerID: 'c3', podUID: 'u3', defaultIPv4IPPool: ['nowhere'] }],
    says: 'nowhere',
  },
  { name: 'a field that is missing', call: ['DELETE', '/v1/ipam/ip', { podName: 'x' }], says: 'containerID' },
  {
    name: "the coordinator's configuration",
    call: ['GET', '/v1/coordinator/config', { podName: 'a', podNamespace: 'b' }],
    says: 'not served here',
  },
])('an error is status 500 and one JSON string: $name', async ({ call, says }) => {
  await using agent = await serve();
  await agent.call('POST', '/v1/ipam/ip', ADD);
  const answer = await agent.call(...call);
  expect([answer.status, answer.type]).toEqual([500, 'application/json']);
  expect(JSON.parse(answer.body)).toEqual(expect.stringContaining(says));
});

test('an endpoint without its parameters, and of a stranger', async () => {
  await using agent = await serve();
  const lacking = await agent.call('GET', '/v1/workloadendpoint?podName=web-0');
  expect([lacking.status, JSON.parse(lacking.body)]).toEqual([422, 'podNamespace and podName are required']);
  const unknown = await agent.call('GET', '/v1/workloadendpoint?podName=x&podNamespace=y');
  expect([unknown.status, JSON.parse(unknown.body)]).toEqual([404, 'no endpoint of y/x on this node']);
});

test('POST /ipam/ips does nothing, DELETE gives back everything of the container', async () => {
  await using agent = await serve();
  await agent.call('POST', '/v1/ipam/ip', ADD);
  await agent.call('POST', '/v1/ipam/ips', {});
  expect((await agent.call('GET', '/v1/workloadendpoint?podName=web-0&podNamespace=prod')).status).toBe(200);
  const all = { ...SANDBOX, netNamespace: '', isReleaseConflictIPs: true };
  expect(await agent.call('DELETE', '/v1/ipam/ips', all)).toMatchObject({ status: 200, body: '' });
  expect((await agent.call('GET', '/v1/workloadendpoint?podName=web-0&podNamespace=prod')).status).toBe(404);
});

test('releasing conflicts is 521 where it is switched off; without that word it is a release like any other', async () => {
  await using agent = await serve({ releasesConflictIPs: false });
  await agent.call('POST', '/v1/ipam/ip', ADD);
  const refused = await agent.call('DELETE', '/v1/ipam/ips', { ...SANDBOX, isReleaseConflictIPs: true });
  expect([refused.status, JSON.parse(refused.body)]).toEqual([521, expect.stringContaining('switched off')]);
  expect((await agent.call('DELETE', '/v1/ipam/ips', SANDBOX)).status).toBe(200);
});

test('releasing conflicts of a workload that keeps its addresses is 522', async () => {
  const record = buildRecord({ address: '10.0.9.9' });
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
  const holder = { ...record.spec.holder, kind: 'Pod' as const, name: 'web-0', containerID: 'c9', owner };
  await using agent = await serve({}, { ...record, spec: { ...record.spec, holder } });
  const all = { ...SANDBOX, containerID: 'c9', isReleaseConflictIPs: true };
  const refused = await agent.call('DELETE', '/v1/ipam/ips', all);
  expect([refused.status, refused.type, JSON.parse(refused.body)]).toEqual([
    522,
    'application/json',
    expect.stringContaining('keeps its addresses'),
  ]);
});
