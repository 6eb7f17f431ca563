import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { everyRecord } from '#pkg/ledger/every-record.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { IP_RECORDS, toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { holderKey, type RecordSpec } from '#pkg/record/ip-record.ts';
import { RECORD_LABELS, recordLabels, toLabelValue } from '#pkg/record/record-metadata.ts';
import { taken } from '#test/contract/ledger-resource.ts';
import { heldBy, holderOf, specOf } from '#test/contract/record-spec.ts';
import type { RunningServer } from '#test/support/api-server.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { joinLedgerCluster, type LedgerCluster } from './ledger-cluster.ts';
import { listedBytes, recordRequests } from './ledger-requests.ts';

const server = useSharedServer();
let cluster: LedgerCluster<RunningServer>;
let controller: KubeClient;
let ledger: Ledger;

beforeAll(async () => {
  cluster = await joinLedgerCluster(server);
  controller = cluster.controller();
  ledger = openKubernetesLedger(cluster.agent());
  return () => cluster[Symbol.asyncDispose]();
});

beforeEach(() => cluster.clear());

const IN_POOL_B = { pool: { kind: 'SpiderIPPool', name: 'pool-b', uid: 'pool-uid-b' } } as const;

async function fill(count: number): Promise<void> {
  const addresses = Array.from({ length: count }, (_, n) => `10.1.${n >> 8}.${n & 255}`);
  const writers = Array.from({ length: 32 }, async () => {
    for (let address = addresses.pop(); address !== undefined; address = addresses.pop()) {
      const pod = { name: `web-${randomUUID().slice(-10)}`, uid: randomUUID() };
      const created = await controller.create(IP_RECORDS, toNewObject(heldBy(specOf(address), pod)));
      if (!created.ok) throw new Error(created.message);
    }
  });
  await Promise.all(writers);
}

test('a record that calls its attachGeneration by the older name is read, and the next write renames it', async () => {
  const object = toNewObject(specOf('10.1.9.9'));
  const spec = object['spec'] as RecordSpec;
  const { attachGeneration, ...older } = spec.holder;
  const stored = { ...object, spec: { ...spec, holder: { ...older, attach: attachGeneration + 3 } } };
  expect(await controller.create(IP_RECORDS, stored)).toMatchObject({ ok: true });
  const seen = await ledger.get('10.1.9.9');
  expect(seen?.spec.holder.attachGeneration).toBe(attachGeneration + 3);
  if (seen === null) return;
  const holder = { ...seen.spec.holder, attachGeneration: attachGeneration + 4 };
  expect(await ledger.amend(seen, { ...seen.spec, holder })).toMatchObject({ done: true });
  const got = await controller.get(IP_RECORDS, { name: '10.1.9.9' });
  const written = got.ok ? (got.object['spec'] as { holder: object }).holder : {};
  expect(written).toMatchObject({ attachGeneration: attachGeneration + 4 });
  expect(written).not.toHaveProperty('attach');
});

describe('of 2,000 records', () => {
  test('what is taken is one request, and less than 45 bytes a record', async () => {
    await fill(2_000);
    const before = await listedBytes(server);
    let values: bigint[] = [];
    const read = async () => {
      values = (await ledger.takenOf('pool-a')).map(({ value }) => value);
    };
    expect(await recordRequests(server, read)).toEqual({ LIST: 1 });
    expect(new Set(values).size).toBe(2_000);
    expect(Math.min(...values.map(Number))).toBe(0x0a010000);
    const bytesPerRecord = ((await listedBytes(server)) - before) / 2_000;
    expect(bytesPerRecord).toBeGreaterThan(1);
    expect(bytesPerRecord).toBeLessThan(45);
  });

  test('a page reads the objects of that page and no other', async () => {
    await fill(600);
    const page = () => ledger.list({ pool: 'pool-a', after: '10.1.1', limit: 10 });
    expect((await page()).map(({ name }) => name)).toEqual(
      [0, 1, 10, 100, 101, 102, 103, 104, 105, 106].map((n) => `10.1.1.${n}`),
    );
    expect(await recordRequests(server, page)).toEqual({ LIST: 1, GET: 10 });
    const ofNode = () => ledger.list({ node: 'worker-2', limit: 10 });
    expect(await recordRequests(server, ofNode)).toEqual({ LIST: 1 });
  });

  test('all come, page after page, while others come and go', async () => {
    await fill(1_100);
    const names: string[] = [];
    for await (const { name } of everyRecord(ledger)) {
      names.push(name);
      if (names.length !== 300) continue;
      const late = await ledger.get('10.1.4.9');
      if (late !== null) await ledger.release(late);
      await taken(ledger, specOf('10.0.0.1'));
    }
    expect(names).toHaveLength(1_099);
    expect(names).toEqual([...new Set(names)].sort());
  });
});

describe('a label only finds', () => {
  /** A record with the labels of another one, as the hash of a name that was made up to collide would have it. */
  const store = async (spec: RecordSpec, labelsOf: RecordSpec) => {
    const { metadata, ...rest } = toNewObject(spec);
    const object = { ...rest, metadata: { ...metadata, labels: recordLabels(labelsOf) } };
    const created = await controller.create(IP_RECORDS, object);
    if (!created.ok) throw new Error(created.message);
  };

  test('whose spec is of another holder, node or pool is not answered with', async () => {
    const own = await taken(ledger, specOf('10.0.0.1'));
    const foreign = heldBy(specOf('10.0.0.2', IN_POOL_B), { name: 'web-9', node: 'worker-9' });
    await store(foreign, specOf('10.0.0.2'));
    expect(await ledger.byHolder(holderKey(holderOf(), 4))).toEqual([own]);
    expect(await ledger.byNode('worker-1')).toEqual([own]);
    expect(await ledger.takenOf('pool-a')).toEqual([
      { value: 0x0a000001n, family: 4, domain: 'default', state: 'Allocated', node: 'worker-1' },
    ]);
    expect(await ledger.list({ pool: 'pool-a', limit: 10 })).toEqual([own]);
    expect(await ledger.list({ node: 'worker-1', limit: 10 })).toEqual([own]);
  });

  test('names that are too long for one are found all the same', async () => {
    const name = `${'p'.repeat(70)}.example`;
    const spec = heldBy(specOf('10.0.0.1', { pool: { kind: 'SpiderIPPool', name, uid: 'u' } }), { node: name });
    const record = await taken(openKubernetesLedger(controller), spec);
    expect(toLabelValue(name)).toMatch(/^[0-9a-f]{32}$/);
    expect(await ledger.byNode(name)).toEqual([record]);
    expect(await ledger.takenOf(name)).toHaveLength(1);
    expect(await ledger.list({ pool: name, limit: 10 })).toEqual([record]);
  });

  test('holders that run on no node are found by having none', async () => {
    const claim = heldBy(specOf('10.0.0.1'), { kind: 'IPAddressClaim', node: '' });
    const record = await taken(openKubernetesLedger(controller), claim);
    await taken(ledger, specOf('10.0.0.2'));
    expect(await ledger.byNode('')).toEqual([record]);
  });

  test('and one that says nothing is no way to ask for more than was meant', async () => {
    await taken(ledger, specOf('10.0.0.1'));
    for (const hostile of ['', '*', 'pool-a,x', `pool-a,${RECORD_LABELS.state}!=x`, '../pods', 'pool-a)']) {
      expect(await ledger.takenOf(hostile)).toEqual([]);
      expect(await ledger.byNode(hostile)).toEqual([]);
      expect(await ledger.byHolder(hostile)).toEqual([]);
      expect(await ledger.get(hostile)).toBeNull();
    }
  });
});
