import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { AddArgs } from '#pkg/agentapi/wire.ts';
import { type AgentAtWork, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const IPPOOL = 'ipam.spidernet.io/ippool';
const IPPOOLS = 'ipam.spidernet.io/ippools';
const ROUTES = 'ipam.spidernet.io/routes';
const SUBNET = 'ipam.spidernet.io/subnet';
const NETWORKS = 'k8s.v1.cni.cncf.io/networks';

let cluster: PodCluster;
let agent: AgentAtWork;
let made = 0;

beforeAll(async () => {
  cluster = await startPodCluster();
  const of = (third: number, more = {}) => ({
    subnet: `10.${third}.0.0/24`,
    ips: [`10.${third}.0.10-10.${third}.0.99`],
    ...more,
  });
  await cluster.createPool('default-4', of(1, { gateway: '10.1.0.1', default: true }));
  await cluster.createPool('default-6', { subnet: 'fd00:1::/64', ips: ['fd00:1::10-fd00:1::99'], default: true });
  await cluster.createPool(
    'team-a',
    of(2, { gateway: '10.2.0.1', routes: [{ dst: '192.168.0.0/16', gw: '10.2.0.9' }] }),
  );
  await cluster.createPool('team-b', of(3));
  await cluster.createPool('off', of(4, { disable: true }));
  await cluster.createPool('far', of(5, { nodeName: ['worker-2'] }));
  for (const [name, annotations] of Object.entries({
    new: { 'ipam.spidernet.io/default-ipv4-ippool': '["team-a"]' },
    old: { 'ipam.spidernet.io/defaultv4ippool': '["team-b"]' },
    broken: { 'ipam.spidernet.io/default-ipv4-ippool': '["team-a"' },
  })) {
    await cluster.post('/api/v1/namespaces', { metadata: { name, annotations } });
  }
  agent = await startAgentOf(cluster);
  await agent.untilReady();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

function podWith(annotations: Readonly<Record<string, string>>, namespace = 'default') {
  made += 1;
  return cluster.createPod({ name: `pod-${made}`, namespace, annotations });
}

const json = (value: unknown) => JSON.stringify(value);
const refusal = async (annotations: Readonly<Record<string, string>>, more?: Partial<AddArgs>) =>
  await agent.refusal(await podWith(annotations), more);
const poolsOf = async (annotations: Readonly<Record<string, string>>, more?: Partial<AddArgs>, namespace?: string) => {
  const { ips } = await agent.add(await podWith(annotations, namespace), more);
  return ips.map(({ ipPool }) => ipPool);
};

describe('an annotation that cannot be read is refused with its name and its fault', () => {
  test.each([
    { name: 'bad JSON', key: IPPOOL, text: '{"ipv4": ["team-a"', fault: 'bad JSON' },
    { name: 'bad JSON of ippools', key: IPPOOLS, text: '[{]', fault: 'bad JSON' },
    { name: 'a list where an object belongs', key: IPPOOL, text: '["team-a"]', fault: 'must be an object, is a list' },
    { name: 'an object where a list belongs', key: IPPOOLS, text: '{}', fault: 'must be a list, is an object' },
    {
      name: 'a string where a list of names belongs',
      key: IPPOOL,
      text: json({ ipv4: 'team-a' }),
      fault: 'ipv4 must be a list, is a string',
    },
    {
      name: 'a number for a name',
      key: IPPOOL,
      text: json({ ipv4: [7] }),
      fault: 'ipv4[0] must be a string, is a number',
    },
    {
      name: 'a text for cleangateway',
      key: IPPOOLS,
      text: json([{ interface: 'eth0', ipv4: ['team-a'], cleangateway: 'yes' }]),
      fault: 'cleangateway must be true or false, is a string',
    },
    { name: '200 kB', key: IPPOOL, text: json({ ipv4: ['x'.repeat(200_000)] }), fault: 'bytes are too long' },
    {
      name: '10,000 items',
      key: IPPOOLS,
      text: json(Array.from({ length: 10_000 }, () => ({}))),
      fault: '10000 items, at most',
    },
    { name: 'a malformed wildcard', key: IPPOOL, text: json({ ipv4: ['team-*['] }), fault: 'team-*[' },
    {
      name: 'one interface twice',
      key: IPPOOLS,
      text: json([
        { interface: 'eth0', ipv4: ['team-a'] },
        { interface: 'eth0', ipv4: ['team-b'] },
      ]),
      fault: 'duplicate interface "eth0"',
    },
    {
      name: 'some items named, some not',
      key: IPPOOLS,
      text: json([{ interface: 'eth0', ipv4: ['team-a'] }, { ipv4: ['team-b'] }]),
      fault: 'in all items or in none',
    },
    {
      name: 'routes that are none',
      key: ROUTES,
      text: json([{ dst: 'everywhere', gw: '10.1.0.2' }]),
      fault: 'everywhere',
    },
  ])('$name', async ({ key, text, fault }) => {
    const { reason, message } = await refusal({ [key]: text });
    expect(reason).toBe('bad-annotation');
    expect(message).toContain(key);
    expect(message).toContain(fault);
    expect(message.length).toBeLessThan(2_000);
    expect(await cluster.records()).toEqual([]);
  });

  test("a namespace's", async () => {
    const { reason, message } = await agent.refusal(await podWith({}, 'broken'));
    expect(reason).toBe('bad-annotation');
    expect(message).toContain('ipam.spidernet.io/default-ipv4-ippool: bad JSON');
  });

  test('the Multus selection, where an interface is found by its place in it', async () => {
    const annotations = {
      [IPPOOLS]: json([{ ipv4: ['team-a'] }, { ipv4: ['team-b'] }]),
      [NETWORKS]: '[{"name": "blue"',
    };
    const { message } = await refusal(annotations, { ifName: 'net1' });
    expect(message).toContain(`annotation ${NETWORKS}: bad JSON`);
    expect(await poolsOf(annotations)).toEqual(['team-a']); // eth0 needs no place
  });

  test('the API server refuses an annotation of 10 MB', async () => {
    await expect(podWith({ [IPPOOL]: json({ ipv4: ['x'.repeat(10_000_000)] }) })).rejects.toThrow(/too (large|long)/i);
  });

  test('unknown keys are logged, and the ADD succeeds', async () => {
    const text = '{"ipv4": ["team-a"], "ipv5": ["x"], "__proto__": {"ipv6": ["default-6"]}, "constructor": 1}';
    expect(await poolsOf({ [IPPOOL]: text })).toEqual(['team-a']);
    const told = `annotation ${IPPOOL}: the value has unknown keys that are ignored: "ipv5", "__proto__", "constructor"`;
    await vi.waitUntil(() => agent.log.some((line) => line.includes(JSON.stringify(told).slice(1, -1))), 10_000);
  });
});

describe('errors as documented by Spiderpool, with the changes of the design', () => {
  test('a named pool that does not exist fails the whole ADD, and the error lists what exists', async () => {
    const { reason, message } = await refusal({ [IPPOOL]: json({ ipv4: ['team-a', 'team-z'] }) });
    expect(reason).toBe('unknown-pool');
    for (const name of ['team-z', 'default-4', 'team-a', 'team-b', 'off', 'far']) expect(message).toContain(name);
    expect(await cluster.records()).toEqual([]);
  });

  test('a pool of the other family in a list is left out', async () => {
    expect(await poolsOf({ [IPPOOL]: json({ ipv4: ['default-6', 'team-b'] }) })).toEqual(['team-b']);
  });

  test('a list with nothing but pools of the other family is refused', async () => {
    const { reason, details } = await refusal({ [IPPOOL]: json({ ipv4: ['default-6'] }) });
    expect([reason, details]).toEqual(['no-eligible-pool', 'default-6: it is an IPv6 pool']);
  });

  test('the same pool twice in one list is refused', async () => {
    const { message } = await refusal({ [IPPOOL]: json({ ipv4: ['team-a', 'team-a'] }) });
    expect(message).toContain('duplicate pool "team-a"');
  });

  test('all pools of one family objected to: refused with one line a pool, even if the other family is fine', async () => {
    const { reason, details } = await refusal({ [IPPOOL]: json({ ipv4: ['off', 'far'], ipv6: ['default-6'] }) });
    expect(reason).toBe('no-eligible-pool');
    expect(details.split('\n')).toEqual(['off: it is disabled', 'far: node worker-1 is not in nodeName [worker-2]']);
    expect(await cluster.records()).toEqual([]);
  });

  test('a family that is switched off is left out without an error', async () => {
    await using v4Only = await startAgentOf(cluster, { config: { enableIPv6: false } });
    const { ips } = await v4Only.add(await podWith({}));
    expect(ips.map(({ ipPool }) => ipPool)).toEqual(['default-4']);
    const { reason } = await v4Only.refusal(await podWith({ [IPPOOL]: json({ ipv6: ['default-6'] }) }));
    expect(reason).toBe('no-eligible-pool');
  });

  test.each([
    { name: 'an empty object', annotations: { [IPPOOL]: '{}' } },
    { name: 'a wildcard that matches nothing', annotations: { [IPPOOL]: json({ ipv4: ['nobody-*'] }) } },
  ])('no candidate at all ($name) is an error, not an empty success', async ({ annotations }) => {
    const { reason, message } = await refusal(annotations);
    expect(reason).toBe('no-eligible-pool');
    expect(message).toContain(IPPOOL);
    expect(await cluster.records()).toEqual([]);
  });

  test('an interface that the items of ippools do not name is refused, and the named ones are told', async () => {
    const { message } = await refusal(
      { [IPPOOLS]: json([{ interface: 'eth0', ipv4: ['team-a'] }]) },
      { ifName: 'net1' },
    );
    expect(message).toContain('interface "net1" is not among the named ones: "eth0"');
  });

  test('the next pool of the list is used when one is full; when all are full, the error has used and total of each', async () => {
    const tiny = (third: number) => ({ subnet: `10.${third}.0.0/24`, ips: [`10.${third}.0.10`] });
    await cluster.createPool('tiny-1', tiny(21));
    await cluster.createPool('tiny-2', tiny(22));
    const annotations = { [IPPOOL]: json({ ipv4: ['tiny-1', 'tiny-2'] }) };
    const pod = await podWith(annotations);
    await vi.waitUntil(async () => (await agent.tryAdd(pod)).status === 200, 10_000); // the pools are known
    expect(await poolsOf(annotations)).toEqual(['tiny-2']);
    const { reason, message, details } = await refusal(annotations);
    expect(reason).toBe('pools-exhausted');
    for (const name of ['tiny-1', 'tiny-2']) expect(`${message}\n${details}`).toMatch(new RegExp(`${name}.*1.*1`));
  });
});

describe('sources of pools, the first that exists', () => {
  test('a subnet before everything else: the pod waits for the pool of its application, and takes no other', async () => {
    const owner = { apiVersion: 'apps.example/v1', kind: 'Game', name: 'chess', uid: 'g-1' };
    const annotations = { [SUBNET]: json({ ipv4: ['a'] }), [IPPOOL]: json({ ipv4: ['team-a'] }) };
    const pod = await cluster.createPod({ name: 'chess-0', annotations, owner });
    const { reason, message } = await agent.refusal(pod, { timeoutMs: 2_000 });
    expect(reason).toBe('auto-pool-missing');
    expect(message).toContain(
      'pool of Game default/chess from subnet a: there is no pool yet; there is no SpiderSubnet "a"',
    );
    expect(await cluster.records()).toEqual([]);
  });

  test('a subnet where no pools are made for applications is refused by the name of its annotation', async () => {
    await using without = await startAgentOf(cluster, { config: { enableAutoPoolForApplication: false } });
    const { reason, message } = await without.refusal(
      await podWith({ [SUBNET]: json({ ipv4: ['a'] }), [IPPOOL]: json({ ipv4: ['team-a'] }) }),
    );
    expect(reason).toBe('no-eligible-pool');
    expect(message).toContain(`pod annotation ${SUBNET}: no pools are made for applications here`);
  });

  test('a subnet and a pod without a controller: refused', async () => {
    const { reason, message } = await refusal({ [SUBNET]: json({ ipv4: ['a'] }) });
    expect(reason).toBe('no-eligible-pool');
    expect(message).toContain(
      `pod annotation ${SUBNET}: a pod without a controller cannot have pools made from a subnet`,
    );
  });

  test('a subnet is not looked at where SpiderSubnet is off', async () => {
    await using without = await startAgentOf(cluster, { config: { enableSpiderSubnet: false } });
    const { ips } = await without.add(
      await podWith({ [SUBNET]: json({ ipv4: ['a'] }), [IPPOOL]: json({ ipv4: ['team-a'] }) }),
    );
    expect(ips.map(({ ipPool }) => ipPool)).toEqual(['team-a']);
  });

  test('default pools of both families are used', async () =>
    expect(await poolsOf({})).toEqual(['default-4', 'default-6']));
  test('the CNI configuration before default pools', async () =>
    expect(await poolsOf({}, { defaultIPv4IPPool: ['team-b'] })).toEqual(['team-b']));
  test("a namespace's annotation before the CNI configuration", async () =>
    expect(await poolsOf({}, { defaultIPv4IPPool: ['team-b'] }, 'new')).toEqual(['team-a']));
  test('the older spelling of a namespace', async () => expect(await poolsOf({}, {}, 'old')).toEqual(['team-b']));
  test("a pod's annotation before its namespace's", async () =>
    expect(await poolsOf({ [IPPOOL]: json({ ipv4: ['team-b'] }) }, {}, 'new')).toEqual(['team-b']));
  test('ippools before ippool', async () =>
    expect(
      await poolsOf({
        [IPPOOL]: json({ ipv4: ['team-b'] }),
        [IPPOOLS]: json([{ interface: 'eth0', ipv4: ['team-a'] }]),
      }),
    ).toEqual(['team-a']));
  test('a wildcard', async () => expect(await poolsOf({ [IPPOOL]: json({ ipv4: ['team-*'] }) })).toEqual(['team-a']));
});

describe('several interfaces', () => {
  const items = (...names: (string | null)[]) =>
    json(
      names.map((name, at) => ({
        ...(name === null ? {} : { interface: name }),
        ipv4: [at === 0 ? 'team-a' : 'team-b'],
      })),
    );

  test.each([
    { name: 'named items', annotations: { [IPPOOLS]: items('eth0', 'net1') } },
    {
      name: 'unnamed items by their place in the Multus selection',
      annotations: { [IPPOOLS]: items(null, null), [NETWORKS]: 'blue' },
    },
  ])('$name', async ({ annotations }) => {
    const pod = await podWith(annotations);
    await agent.add(pod);
    const { ips } = await agent.add(pod, { ifName: 'net1' });
    expect(ips.map(({ nic, ipPool }) => [nic, ipPool])).toEqual([
      ['eth0', 'team-a'],
      ['net1', 'team-b'],
    ]);
  });

  test('unnamed items without a Multus selection say why the interface has no place', async () => {
    const { message } = await refusal({ [IPPOOLS]: items(null, null) }, { ifName: 'net1' });
    expect(message).toContain('the position of interface "net1" is unknown');
  });

  test('two interfaces from one pool get two addresses', async () => {
    const pod = await podWith({ [IPPOOL]: json({ ipv4: ['team-a'] }) });
    const [a, b] = [await agent.addressesOf(pod), await agent.addressesOf(pod, { ifName: 'net1' })];
    expect(a).not.toEqual(b);
    expect(await cluster.records()).toHaveLength(2);
  });
});

describe('routes, gateway, fixed addresses', () => {
  test("the pod's routes stand beside its pool's, on the interface that reaches their gateway", async () => {
    const routes = json([
      { dst: '172.16.0.0/12', gw: '10.2.0.7' },
      { dst: '172.32.0.0/16', gw: '10.9.9.9' },
    ]);
    const answer = await agent.add(await podWith({ [IPPOOL]: json({ ipv4: ['team-a'] }), [ROUTES]: routes }));
    expect(answer.routes).toEqual([
      { ifName: 'eth0', dst: '192.168.0.0/16', gw: '10.2.0.9' },
      { ifName: 'eth0', dst: '172.16.0.0/12', gw: '10.2.0.7' },
      { ifName: 'eth0', dst: '0.0.0.0/0', gw: '10.2.0.1' },
    ]);
  });

  test.each([
    {
      name: 'of the CNI configuration',
      annotations: {},
      more: { cleanGateway: true, defaultIPv4IPPool: ['default-4'] },
    },
    {
      name: 'of ippools',
      annotations: { [IPPOOLS]: json([{ interface: 'eth0', ipv4: ['default-4'], cleangateway: true }]) },
      more: {},
    },
  ])('clean_gateway $name leaves the default route out', async ({ annotations, more }) => {
    const answer = await agent.add(await podWith(annotations), more);
    expect(answer).toMatchObject({ ips: [{ gateway: '10.1.0.1' }], routes: [] });
  });

  test('a fixed address is given, a second time refused with the name of who has it, and outside of all candidates refused', async () => {
    const first = await podWith({ [IPPOOL]: json({ ipv4: ['team-a'] }) });
    expect(await agent.addressesOf(first, { requestedIPs: ['10.2.0.50'] })).toEqual(['10.2.0.50']);
    const taken = await refusal({ [IPPOOL]: json({ ipv4: ['team-a'] }) }, { requestedIPs: ['10.2.0.50'] });
    expect(taken.reason).toBe('address-refused');
    expect(taken.message).toContain(first.name);
    const outside = await refusal({ [IPPOOL]: json({ ipv4: ['team-a'] }) }, { requestedIPs: ['10.3.0.50'] });
    expect([outside.reason, outside.message]).toEqual(['address-refused', expect.stringContaining('10.3.0.50')]);
  });
});
