import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { runProgram } from '#test/support/run-program.ts';
import { type AgentAtWork, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const IPPOOL = 'ipam.spidernet.io/ippool';

let cluster: PodCluster;
let agent: AgentAtWork;
let made = 0;

beforeAll(async () => {
  cluster = await startPodCluster();
  const pool = (second: number, more = {}) => ({
    subnet: `10.${second}.0.0/24`,
    ips: [`10.${second}.0.10-10.${second}.0.11`],
    ...more,
  });
  await cluster.createPool('common', pool(1, { default: true }));
  await cluster.createPool('team-a', pool(2));
  await cluster.createPool('team-b', pool(3, { podAffinity: { matchLabels: { app: 'web' } } }));
  await cluster.createPool('off', pool(4, { disable: true }));
  await cluster.createPool('far', pool(5, { nodeName: ['worker-2'] }));
  await cluster.createPool('tiny', pool(6, { ips: ['10.6.0.10'] }));
  const reserved = { metadata: { name: 'printer' }, spec: { ips: ['10.2.0.11'] } };
  await cluster.post('/apis/spiderpool.spidernet.io/v2beta1/spiderreservedips', {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderReservedIP',
    ...reserved,
  });
  agent = await startAgentOf(cluster, { config: { enableIPv6: false } });
  await agent.untilReady();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

/** Runs ipledgerctl as root on the node of that agent. */
async function ctl({ socket }: AgentAtWork, ...args: string[]) {
  const terminal = openMemoryTerminal();
  const code = await runCtl(args, { socket }, terminal);
  return { code, lines: terminal.stdout.split('\n').slice(0, -1), stderr: terminal.stderr };
}

function podAsking(names?: readonly string[], node?: string) {
  made += 1;
  const annotations = names === undefined ? {} : { [IPPOOL]: JSON.stringify({ ipv4: names }) };
  const where = node === undefined ? {} : { node };
  return cluster.createPod({ name: `pod-${made}`, labels: { app: 'web' }, annotations, ...where });
}

describe('explain pod', () => {
  test('where its pools come from, the pools in their order, and of the others the objections', async () => {
    const { name } = await podAsking(['team-a', 'off', 'team-b', 'far']);
    expect(await ctl(agent, 'explain', 'pod', `default/${name}`)).toEqual({
      code: 0,
      lines: [
        `Candidates come from: pod annotation ${IPPOOL}`,
        'PLACE  POOL    FAMILY  USED/TOTAL  OBJECTION',
        '1      team-b  IPv4    0/2         -',
        '2      team-a  IPv4    0/1         -',
        '-      off     IPv4    0/2         it is disabled',
        '-      far     IPv4    0/2         node worker-1 is not in nodeName [worker-2]',
      ],
      stderr: '',
    });
    expect(await cluster.records()).toEqual([]);
  });

  test('what it holds already, and that without a refusal though its pool is full', async () => {
    const pod = await podAsking(['tiny']);
    await agent.add(pod);
    const { code, lines } = await ctl(agent, 'explain', 'pod', `default/${pod.name}`);
    expect([code, lines.slice(2)]).toEqual([
      0,
      ['1      tiny  IPv4    1/1         -', 'Holds already: 10.6.0.10 of pool tiny on eth0 (Allocated)'],
    ]);
  });

  test.each([
    { name: 'a full pool', names: ['tiny'], reason: 'pools-exhausted' },
    { name: 'nothing but objections', names: ['off', 'far'], reason: 'no-eligible-pool' },
  ])('$name: the refusal, in the words of the ADD', async ({ names, reason }) => {
    await agent.add(await podAsking(['tiny']));
    const pod = await podAsking(names);
    const { code, lines } = await ctl(agent, 'explain', 'pod', `default/${pod.name}`);
    const refusal = await agent.refusal(pod);
    expect(refusal.reason).toBe(reason);
    expect([code, lines.at(-1)]).toEqual([1, `An ADD would be refused: ${refusal.message} (${reason})`]);
  });

  test.each([
    { name: 'a pool that does not exist', annotation: '{"ipv4":["tinny"]}', reason: 'unknown-pool' },
    { name: 'an annotation that is no JSON', annotation: '{"ipv4":', reason: 'bad-annotation' },
  ])('$name leaves nothing to explain but the refusal', async ({ annotation, reason }) => {
    made += 1;
    const pod = await cluster.createPod({ name: `pod-${made}`, annotations: { [IPPOOL]: annotation } });
    const { code, stderr } = await ctl(agent, 'explain', 'pod', `default/${pod.name}`);
    const { message } = await agent.refusal(pod);
    expect([code, stderr]).toEqual([2, `ipledgerctl: ${message} (${reason})\n`]);
  });

  test('a pod of another node, and one that is not there', async () => {
    const { name } = await podAsking(undefined, 'worker-2');
    const far = await ctl(agent, 'explain', 'pod', `default/${name}`);
    expect([far.code, far.stderr]).toEqual([2, expect.stringContaining(`default/${name} is on node worker-2`)]);
    const none = await ctl(agent, 'explain', 'pod', 'default/nobody');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('pod default/nobody does not exist')]);
  });

  test('the built ipledgerctl prints the same', async () => {
    const { name } = await podAsking();
    const { code, stdout } = await runProgram(
      await builtPath('ipledgerctl'),
      ['--socket', agent.socket, 'explain', 'pod', `default/${name}`],
      { env: launchEnvironment() },
    );
    const { lines } = await ctl(agent, 'explain', 'pod', `default/${name}`);
    expect([code, stdout]).toEqual([0, `${lines.join('\n')}\n`]);
    expect(lines[0]).toBe('Candidates come from: default pools');
  });
});

describe('two nodes, each asked by its own socket', () => {
  let other: AgentAtWork;

  beforeAll(async () => {
    other = await startAgentOf(cluster, { node: 'worker-2' });
    await other.untilReady();
  });
  afterAll(() => other[Symbol.asyncDispose]());

  test('who, pools and list answer for the whole cluster', async () => {
    const near = await agent.addressesOf(await podAsking(['team-a']));
    const pod = await podAsking(['tiny'], 'worker-2');
    await other.add(pod);
    for (const asked of [agent, other]) {
      const { code, lines } = await ctl(asked, 'who', '10.6.0.10');
      expect([code, lines[0]]).toEqual([0, '10.6.0.10/24 is Allocated']);
      expect(lines.join('\n')).toMatch(new RegExp(`default/${pod.name}[^]*worker-2`));
      expect(await ctl(asked, 'who', '10.1.0.10')).toMatchObject({
        code: 1,
        lines: ['Nobody holds 10.1.0.10: it is free in pool common.'],
      });
      expect(await ctl(asked, 'who', '10.2.0.11')).toMatchObject({
        code: 1,
        lines: ['Nobody holds 10.2.0.11: it lies in pool team-a and is reserved by printer.'],
      });
      const pools = await ctl(asked, 'pools', '-o', 'json');
      expect(JSON.parse(pools.lines.join('\n'))).toMatchObject({
        pools: expect.arrayContaining([
          expect.objectContaining({ name: 'tiny', used: '1', free: '0' }),
          expect.objectContaining({ name: 'team-a', used: '1', free: '0', reserved: '1' }),
        ]) as unknown[],
      });
      const listed = (await ctl(asked, 'list')).lines.slice(1).map((line) => line.split(' ', 1)[0]);
      expect(listed).toEqual([...near, '10.6.0.10']);
    }
  });

  test('check: only the agent of the node finds a missing network namespace', async () => {
    const pod = await podAsking(['tiny'], 'worker-2');
    const netNamespace = join(other.directory, 'netns');
    await writeFile(netNamespace, '');
    await other.add(pod, { netNamespace });
    expect(await ctl(other, 'check')).toMatchObject({ code: 0 });
    await rm(netNamespace);
    const found = await ctl(other, 'check', '-o', 'json');
    expect([found.code, JSON.parse(found.lines.join('\n'))]).toMatchObject([
      1,
      { recordsChecked: 1, findings: [{ kind: 'vanished-netns', subject: '10.6.0.10' }] },
    ]);
    expect(await ctl(agent, 'check')).toMatchObject({ code: 0 });
  });
});
