import { expect, test } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import { FreshRecords } from '#controller/give/fresh-records.ts';
import type { RecordChange } from '#controller/project/records-view.ts';
import { isRecordOfClaim } from '#pkg/capi/claim-record.ts';
import { CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildClaim, buildClaimRecord, observeClaim } from '#test/support/build-claim.ts';
import { carryOutStep, type StepDeps } from './carry-out-step.ts';

const CLAIM = buildClaim({ isDeleting: true });
const RECORD = buildClaimRecord();
const isOwn = (record: IpRecord) => isRecordOfClaim(record, CLAIM);

/** A claim whose record was made by us and is in the ledger or not, with a watch of records that tells of nothing by itself. */
function build(stored: IpRecord | null) {
  const listeners = new Listeners<RecordChange>();
  const known = new Map<string, IpRecord>();
  const [written, read]: [object[], string[]] = [[], []];
  let nowMs = 0;
  const view = {
    get: (name: string) => known.get(name) ?? null,
    ofHolder: () => [...known.values()],
    onChange: (listener: (change: RecordChange) => void) => listeners.add(listener),
  };
  const records = new FreshRecords(view as never, () => nowMs);
  records.wrote(RECORD);
  const ledger = {
    get: async (name: string) => {
      read.push(name);
      return stored;
    },
  };
  const client = {
    patch: async (_kind: unknown, _at: unknown, body: KubeObject) => {
      written.push(body.metadata);
      return { ok: true, object: { metadata: { ...CLAIM, resourceVersion: '8' } } };
    },
  };
  const deps = {
    client,
    ledger,
    records,
    claims: { wrote: () => {} },
    addresses: { isUnconfirmed: () => false },
    abandoned: { of: () => [] },
  } as unknown as StepDeps;
  const pass = { write: async (_what: string, send: () => Promise<object>) => send() } as never;
  return {
    records,
    written,
    read,
    wait: (ms: number) => {
      nowMs += ms;
    },
    watchTells: (after: IpRecord | null) => {
      if (after === null) known.delete(RECORD.name);
      else known.set(after.name, after);
      listeners.tell({ before: after === null ? RECORD : null, after });
    },
    letGo: () => carryOutStep({ do: 'remove-finalizer' }, observeClaim({ claim: CLAIM }), deps, pass),
    letOthersGo: () => {
      const claim = buildClaim({ name: 'vm-1', uid: 'other-uid', finalizers: [CLAIM_FINALIZER] });
      return carryOutStep({ do: 'remove-finalizer' }, observeClaim({ claim }), deps, pass);
    },
  };
}

test('a deleted claim is not let go while its record, which no watch has told of for 30 s, is in the ledger', async () => {
  const { records, written, read, wait, letGo } = build(RECORD);
  wait(31_000);
  expect(records.get(RECORD.name)).toBeNull();
  expect(await letGo()).toBe('again');
  expect(read).toEqual([RECORD.name]);
  expect(written).toEqual([]);
  // The next step gives it back.
  expect(records.ofHolder(RECORD.spec.holder, isOwn)).toEqual([RECORD]);
  records.released(RECORD);
  await letGo();
  expect(read).toHaveLength(1);
  expect(written).toHaveLength(1);
});

test('a record that is gone by then is read once, and the claim is let go', async () => {
  const { written, read, wait, letGo } = build(null);
  wait(31_000);
  await letGo();
  await letGo();
  expect(read).toHaveLength(1);
  expect(written).toHaveLength(2);
});

test('no read where the watch is in time, where it came late, and for other claims', async () => {
  const inTime = build(RECORD);
  inTime.watchTells(RECORD);
  inTime.watchTells(null);
  inTime.wait(31_000);
  await inTime.letGo();
  const late = build(RECORD);
  late.wait(31_000);
  expect(late.records.get(RECORD.name)).toBeNull();
  await late.letOthersGo();
  late.watchTells(RECORD);
  late.watchTells(null);
  await late.letGo();
  expect([...inTime.read, ...late.read]).toEqual([]);
});
