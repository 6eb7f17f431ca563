import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Holder, RecordSpec, RecordState } from '#pkg/record/ip-record.ts';
import { RECORD_LABELS, recordLabels } from '#pkg/record/record-metadata.ts';
import { type ApiAnswer, callApi } from '#test/support/api-request.ts';
import { plainToken, podToken } from '#test/support/service-account-tokens.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';

const LONG_NODE = `${'n'.repeat(60)}.example.org`;

const server = useSharedServer();
/** The agent of worker-1; all tests use it as the writer. */
let agent: string;
let longAgent: string;

beforeAll(async () => {
  agent = await podToken(server, 'ipledger-agent', 'worker-1');
  longAgent = await podToken(server, 'ipledger-agent', LONG_NODE);
  // The API server applies a new policy some time after it was stored.
  await vi.waitFor(async () => expect((await tryCreate(specOf({ node: 'worker-2' }))).status).toBe(422), 30_000);
});

const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const send = (token: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callApi(server, { method, path, body, token });

interface Wish {
  readonly state?: RecordState;
  readonly node?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly kind?: Holder['kind'];
  readonly interface?: string;
  readonly uid?: string;
  readonly pool?: string;
  readonly poolUid?: string;
}

function specOf({ state = 'Allocated', node = 'worker-1', ...wish }: Wish): RecordSpec {
  const { kind = 'Pod', namespace = 'prod', name = 'web-0', interface: nic = 'eth0', uid = 'pod-uid' } = wish;
  const { pool = 'pool-a', poolUid = 'u1' } = wish;
  const rests = state === 'Cooling' || state === 'Quarantined';
  return {
    address: '10.0.2.50',
    prefix: 24,
    domain: 'default',
    pool: { kind: 'SpiderIPPool', name: pool, uid: poolUid },
    state,
    ...(rests ? { until: '2026-11-16T10:00:00Z' } : {}),
    holder: { kind, namespace, name, interface: nic, attachGeneration: 1, node, ...(rests ? {} : { uid }) },
  };
}

const record = (spec: RecordSpec, labels: object = {}, metadata: object = {}) => ({
  apiVersion: 'ipledger.io/v1alpha1',
  kind: 'IPRecord',
  metadata: { name: spec.address, ...metadata, labels: { ...recordLabels(spec), ...labels } },
  spec,
});
const tryCreate = (spec: RecordSpec, labels: object = {}, token = agent) =>
  send(token, 'POST', `${RECORDS}?dryRun=All`, record(spec, labels));

const refusal = (message: string) => ({
  status: 422,
  body: { message: expect.stringMatching(new RegExp(`ipledger-agent-records.*denied request: .*${message}`)) },
});

describe('an agent creates', () => {
  test.each([
    { name: 'a record of its own node', wish: {} },
    { name: 'one of a pool with a long name', wish: { pool: 'p'.repeat(64) } },
    { name: 'one of a VM', wish: { kind: 'VirtualMachineInstance' as const } },
  ])('$name', async ({ wish }) => {
    expect(await tryCreate(specOf(wish))).toMatchObject({ status: 201 });
  });

  test('a record of its own node with a long name', async () => {
    expect(await tryCreate(specOf({ node: LONG_NODE }), {}, longAgent)).toMatchObject({ status: 201 });
  });

  test("no record of another node's", async () => {
    const message = 'the agent of node worker-1 cannot make a record of node worker-2';
    expect(await tryCreate(specOf({ node: 'worker-2' }))).toMatchObject(refusal(message));
    expect(await tryCreate(specOf({ node: '' }))).toMatchObject(refusal('cannot make a record of node'));
  });

  test.each(['Retained', 'Suspect', 'Cooling', 'Quarantined'] as const)('nothing that is %s', async (state) => {
    const message = `an agent creates records as Allocated, not as ${state}`;
    expect(await tryCreate(specOf({ state }))).toMatchObject(refusal(message));
  });

  test.each(['IPAddressClaim', 'IPAllocation', 'Container'] as const)(
    'nothing for a holder of kind %s',
    async (kind) => {
      const message = `an agent does not write a record that is Allocated for a holder of kind ${kind}`;
      expect(await tryCreate(specOf({ kind }))).toMatchObject(refusal(message));
    },
  );

  test('what the kind refuses is refused before the policy', async () => {
    const answer = await tryCreate({ ...specOf({}), address: '10.0.2.051' });
    expect(answer).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { kind: 'IPRecord' } } });
  });
});

describe('a label that disagrees with the spec is refused:', () => {
  const LONG_POOL = 'p'.repeat(64);

  test.each([
    {
      name: 'another pool',
      labels: { [RECORD_LABELS.pool]: 'pool-b' },
      message: 'ipledger.io/pool must be spec.pool.name',
    },
    { name: 'no pool', labels: { [RECORD_LABELS.pool]: undefined }, message: 'ipledger.io/pool must be' },
    {
      name: 'another node',
      labels: { [RECORD_LABELS.node]: 'worker-2' },
      message: 'ipledger.io/node must be spec.holder.node',
    },
    { name: 'no node', labels: { [RECORD_LABELS.node]: undefined }, message: 'ipledger.io/node must be' },
    {
      name: 'another state',
      labels: { [RECORD_LABELS.state]: 'Suspect' },
      message: 'ipledger.io/state must be spec.state',
    },
    { name: 'no state', labels: { [RECORD_LABELS.state]: undefined }, message: 'ipledger.io/state must be' },
    { name: 'no holder', labels: { [RECORD_LABELS.holder]: undefined }, message: 'ipledger.io/holder must be a hash' },
    {
      name: 'a holder that is no hash',
      labels: { [RECORD_LABELS.holder]: 'web-0' },
      message: 'ipledger.io/holder must be a hash',
    },
  ])('$name', async ({ labels, message }) => {
    expect(await tryCreate(specOf({}), labels)).toMatchObject(refusal(message));
  });

  test('a long name that is not there as a hash', async () => {
    const labels = { [RECORD_LABELS.pool]: 'p'.repeat(63) };
    expect(await tryCreate(specOf({ pool: LONG_POOL }), labels)).toMatchObject(refusal('ipledger.io/pool must be'));
    const node = { [RECORD_LABELS.node]: 'worker-1' };
    const answer = await tryCreate(specOf({ node: LONG_NODE }), node, longAgent);
    expect(answer).toMatchObject(refusal('ipledger.io/node must be'));
  });

  test('on an update too', async () => {
    const before = await stored(specOf({}));
    const next = record(specOf({}), { [RECORD_LABELS.state]: 'Retained' }, before.metadata);
    expect(await put(next)).toMatchObject(refusal('ipledger.io/state must be spec.state'));
  });

  test('no labels at all', async () => {
    const { metadata, ...rest } = record(specOf({}));
    const answer = await send(agent, 'POST', `${RECORDS}?dryRun=All`, { ...rest, metadata: { name: metadata.name } });
    expect(answer).toMatchObject(refusal('the label'));
  });
});

describe('metadata of an agent is bare:', () => {
  const REFUSED = [
    { name: 'finalizers', metadata: { finalizers: ['example.org/stay'] }, message: 'no finalizers and no owners' },
    {
      name: 'owners',
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] },
      message: 'no finalizers and no owners',
    },
    { name: 'annotations', metadata: { annotations: { a: 'b' } }, message: 'no annotations' },
  ];

  test.each(REFUSED)('no $name', async ({ metadata, message }) => {
    const created = await send(agent, 'POST', `${RECORDS}?dryRun=All`, record(specOf({}), {}, metadata));
    expect(created).toMatchObject(refusal(message));
    const before = await stored(specOf({}));
    const changed = await put(record(specOf({}), {}, { ...before.metadata, ...metadata }));
    expect(changed).toMatchObject(refusal(message));
  });

  test('no label but the four', async () => {
    const message = 'the four labels of a record and no others';
    expect(await tryCreate(specOf({}), { 'ipledger.io/other': 'x' })).toMatchObject(refusal(message));
  });
});

/** A record that the admin creates, and deletes before the next one or after the test. */
async function stored(spec: RecordSpec): Promise<{ metadata: object }> {
  const clear = () => send(server.adminToken, 'DELETE', `${RECORDS}/${spec.address}`);
  await clear();
  onTestFinished(async () => void (await clear()));
  const { body } = await send(server.adminToken, 'POST', RECORDS, record(spec));
  return body as { metadata: object };
}

const put = (body: { metadata: { name: string } }, token = agent) =>
  send(token, 'PUT', `${RECORDS}/${body.metadata.name}?dryRun=All`, body);

async function update(before: Wish, after: Wish, token = agent): Promise<ApiAnswer> {
  const { metadata } = await stored(specOf(before));
  return put(record(specOf(after), {}, metadata), token);
}

async function remove(wish: Wish, token = agent): Promise<ApiAnswer> {
  const { address } = specOf(wish);
  await stored(specOf(wish));
  return send(token, 'DELETE', `${RECORDS}/${address}?dryRun=All`);
}

const STATES: readonly RecordState[] = ['Allocated', 'Retained', 'Suspect', 'Cooling', 'Quarantined'];
const pairs = STATES.flatMap((from) => STATES.map((to) => ({ from, to })));

describe('an agent moves the record of its own node', () => {
  const ALLOWED: Record<RecordState, readonly RecordState[]> = {
    Allocated: ['Allocated', 'Retained', 'Cooling', 'Quarantined'],
    Retained: ['Retained', 'Allocated'],
    Suspect: ['Allocated', 'Suspect'],
    Cooling: [],
    Quarantined: [],
  };

  test.each(pairs.map((pair) => ({ ...pair, ok: ALLOWED[pair.from].includes(pair.to) })))(
    'from $from to $to: $ok',
    async ({ from, to, ok }) => {
      const answer = await update({ state: from }, { state: to });
      const message = `an agent does not move a record from ${from} to ${to}`;
      expect(answer).toMatchObject(ok ? { status: 200 } : refusal(message));
    },
  );

  test('not to another node', async () => {
    const message = 'the agent of node worker-1 cannot make a record of node worker-2';
    expect(await update({}, { node: 'worker-2' })).toMatchObject(refusal(message));
  });

  const IN_USE = 'a record in use does not change its holder';
  const OWN_HOLDER = 'a Retained record is only for its own holder';
  const NEXT_POD = 'a record in use does not go from one pod to the next';
  const STAYS = 'a record that stays Suspect keeps its holder and its pool';
  const FOREIGN = { state: 'Quarantined', kind: 'Conflict', namespace: '', name: '02:00:00:00:00:01' } as const;

  test.each<{ name: string; from?: RecordState; after: Wish; message: string | null }>([
    { name: 'in use to another kind', after: { kind: 'VirtualMachineInstance' }, message: IN_USE },
    { name: 'in use to another namespace', after: { namespace: 'test' }, message: IN_USE },
    { name: 'in use to another name', after: { name: 'web-1' }, message: IN_USE },
    { name: 'in use to another interface', after: { interface: 'net1' }, message: IN_USE },
    { name: 'in use to another pod of the name', after: { uid: 'next-uid' }, message: NEXT_POD },
    { name: 'in use to Retained for another', after: { state: 'Retained', name: 'web-1' }, message: IN_USE },
    { name: 'in use to Cooling by another', after: { state: 'Cooling', name: 'web-1' }, message: IN_USE },
    { name: 'in use to Quarantined for another', after: { state: 'Quarantined', name: 'web-1' }, message: IN_USE },
    { name: 'in use to a foreign host', after: FOREIGN, message: null },
    { name: 'in use to a foreign host elsewhere', after: { ...FOREIGN, interface: 'net1' }, message: IN_USE },
    {
      name: 'Suspect to a claim',
      from: 'Suspect',
      after: { kind: 'IPAddressClaim' },
      message: 'of kind IPAddressClaim',
    },
    {
      name: 'in use to Quarantined for a claim',
      after: { ...FOREIGN, kind: 'IPAddressClaim' },
      message: 'of kind IPAddressClaim',
    },
    { name: 'in use to another pool', after: { pool: 'pool-b' }, message: 'Allocated does not change its pool' },
    { name: 'in use to a pool made anew', after: { poolUid: 'u2' }, message: 'Allocated does not change its pool' },
    { name: 'Retained to another name', from: 'Retained', after: { name: 'web-1' }, message: OWN_HOLDER },
    { name: 'Retained to another interface', from: 'Retained', after: { interface: 'net1' }, message: OWN_HOLDER },
    {
      name: 'Retained to another pool',
      from: 'Retained',
      after: { pool: 'pool-b' },
      message: 'Retained does not change its pool',
    },
    { name: 'Retained to the pool made anew', from: 'Retained', after: { poolUid: 'u2' }, message: null },
    { name: 'Retained to the next pod', from: 'Retained', after: { uid: 'next-uid' }, message: null },
    { name: 'Suspect, another name', from: 'Suspect', after: { state: 'Suspect', name: 'web-1' }, message: STAYS },
    { name: 'Suspect, another pod', from: 'Suspect', after: { state: 'Suspect', uid: 'next-uid' }, message: STAYS },
    { name: 'Suspect, another pool', from: 'Suspect', after: { state: 'Suspect', pool: 'pool-b' }, message: STAYS },
    {
      name: 'Suspect, the pool made anew',
      from: 'Suspect',
      after: { state: 'Suspect', poolUid: 'u2' },
      message: STAYS,
    },
    {
      name: 'Suspect to any holder',
      from: 'Suspect',
      after: { name: 'api-7', uid: 'next-uid', interface: 'net1', pool: 'pool-b', poolUid: 'u2' },
      message: null,
    },
  ])('$name', async ({ from = 'Allocated', after, message }) => {
    const answer = await update({ state: from }, after);
    expect(answer).toMatchObject(message === null ? { status: 200 } : refusal(message));
  });

  test('Suspect, to show that it still sees the sandbox', async () => {
    const { metadata } = await stored(specOf({ state: 'Suspect' }));
    const spec = specOf({ state: 'Suspect' });
    const holder = { ...spec.holder, attachGeneration: 2 };
    expect(await put(record({ ...spec, holder }, {}, metadata))).toMatchObject({ status: 200 });
  });

  test('in use to its next sandbox', async () => {
    const { metadata } = await stored(specOf({}));
    const spec = specOf({});
    const holder = { ...spec.holder, containerID: 'c2', netns: '/var/run/netns/2', attachGeneration: 2 };
    expect(await put(record({ ...spec, holder }, {}, metadata))).toMatchObject({ status: 200 });
  });
});

describe("an agent moves another node's record to its own", () => {
  const ALLOWED = ['Retained to Allocated', 'Suspect to Allocated'];

  test.each(pairs.map((pair) => ({ ...pair, ok: ALLOWED.includes(`${pair.from} to ${pair.to}`) })))(
    'from $from to $to: $ok',
    async ({ from, to, ok }) => {
      const answer = await update({ state: from, node: 'worker-2' }, { state: to });
      const isTakeable = from === 'Retained' || from === 'Suspect';
      const message = isTakeable
        ? `an agent does not move a record from ${from} to ${to}`
        : `the record is ${from} on node worker-2, and the agent of node worker-1 cannot change it`;
      expect(answer).toMatchObject(ok ? { status: 200 } : refusal(message));
    },
  );

  test.each([
    { name: 'Suspect for another holder', from: 'Suspect', taker: { name: 'web-1' }, message: null },
    {
      name: 'Retained for another name',
      from: 'Retained',
      taker: { name: 'web-1' },
      message: 'only for its own holder',
    },
    {
      name: 'Retained for another namespace',
      from: 'Retained',
      taker: { namespace: 'test' },
      message: 'only for its own holder',
    },
    {
      name: 'Retained for another kind',
      from: 'Retained',
      taker: { kind: 'VirtualMachineInstance' },
      message: 'only for its own holder',
    },
    {
      name: 'Retained, left on its node',
      from: 'Retained',
      taker: { node: 'worker-2' },
      message: 'cannot make a record of node worker-2',
    },
    {
      name: 'Suspect, left on its node',
      from: 'Suspect',
      taker: { node: 'worker-2' },
      message: 'cannot make a record of node worker-2',
    },
  ] as const)('$name', async ({ from, taker, message }) => {
    const answer = await update({ state: from, node: 'worker-2' }, taker);
    expect(answer).toMatchObject(message === null ? { status: 200 } : refusal(message));
  });

  test('Suspect and left Suspect not even on its own node: its clock is its own', async () => {
    const { metadata } = await stored(specOf({ state: 'Suspect', node: 'worker-2' }));
    for (const node of ['worker-1', 'worker-2']) {
      const spec = specOf({ state: 'Suspect', node });
      const holder = { ...spec.holder, attachGeneration: 2 };
      expect(await put(record({ ...spec, holder }, {}, metadata))).toMatchObject({ status: 422 });
    }
  });

  test('that belongs to no node, such as a claim, only where it is given up', async () => {
    expect(await update({ node: '' }, {})).toMatchObject(refusal('the record is Allocated on node'));
  });
});

describe('an agent deletes', () => {
  test.each(STATES.map((state) => ({ state, ok: state === 'Allocated' || state === 'Suspect' })))(
    'the record of its own node that is $state: $ok',
    async ({ state, ok }) => {
      const message = `a record that is ${state} is not deleted by an agent`;
      expect(await remove({ state })).toMatchObject(ok ? { status: 200 } : refusal(message));
    },
  );

  test.each([
    { how: '', ok: true },
    { how: '&propagationPolicy=Background', ok: true },
    { how: '&propagationPolicy=Foreground', ok: false },
    { how: '&propagationPolicy=Orphan', ok: false },
    { how: '&orphanDependents=true', ok: false },
    { how: '&orphanDependents=false', ok: false },
  ])('at once, or not at all: "$how" $ok', async ({ how, ok }) => {
    const { address } = specOf({});
    await stored(specOf({}));
    const answer = await send(agent, 'DELETE', `${RECORDS}/${address}?dryRun=All${how}`);
    expect(answer).toMatchObject(ok ? { status: 200 } : refusal('a record is deleted at once'));
  });

  test.each(STATES)("never another node's record, such as one that is %s", async (state) => {
    const message = 'the record is of node worker-2, and the agent of node worker-1 cannot delete it';
    expect(await remove({ state, node: 'worker-2' })).toMatchObject(refusal(message));
  });
});

describe('without a node in its token an agent', () => {
  test.each([
    { name: 'that is bound to nothing', token: () => plainToken(server, 'ipledger-agent') },
    { name: 'whose pod is on no node', token: () => podToken(server, 'ipledger-agent') },
  ])('$name writes nothing', async (row) => {
    const token = await row.token();
    const message = 'the token is not bound to a pod on a node';
    expect(await tryCreate(specOf({}), {}, token)).toMatchObject(refusal(message));
    expect(await tryCreate(specOf({ node: '' }), {}, token)).toMatchObject(refusal(message));
    expect(await update({}, {}, token)).toMatchObject(refusal(message));
    expect(await update({ state: 'Suspect', node: 'worker-2' }, {}, token)).toMatchObject(refusal(message));
    expect(await remove({}, token)).toMatchObject(refusal(message));
    expect(await remove({ node: '' }, token)).toMatchObject(refusal(message));
  });
});

describe('not bound by the policy is', () => {
  test.each([
    { name: 'the controller', token: () => plainToken(server, 'ipledger-controller') },
    { name: 'the controller in its pod', token: () => podToken(server, 'ipledger-controller', 'worker-9') },
    { name: 'the admin', token: async () => server.adminToken },
  ])('$name', async (row) => {
    const token = await row.token();
    expect(await tryCreate(specOf({ state: 'Quarantined', node: 'worker-2' }), {}, token)).toMatchObject({
      status: 201,
    });
    expect(await update({ node: 'worker-2' }, { state: 'Suspect', node: 'worker-2' }, token)).toMatchObject({
      status: 200,
    });
    expect(await remove({ state: 'Cooling', node: 'worker-2' }, token)).toMatchObject({ status: 200 });
  });

  test('an operator, who releases by hand', async () => {
    const token = await plainToken(server, 'ipledger-ctl');
    expect(await remove({ state: 'Retained', node: 'worker-2' }, token)).toMatchObject({ status: 200 });
  });
});
