import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { amended, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { recordRequests } from './ledger-requests.ts';
import { IMPATIENT, inSeconds, SPEC, useLedgerStage } from './ledger-stage.ts';

const stage = useLedgerStage();
const OTHER_POD = { name: 'web-1', uid: 'pod-uid-1', containerID: 'container-1' };

describe('what a write costs the API server', () => {
  test('one request each: create, amend, take over, release', async () => {
    const records: IpRecord[] = [];
    const addresses = Array.from({ length: 10 }, (_, n) => `10.0.0.${n + 1}`);
    const each = (act: (record: IpRecord) => Promise<IpRecord>) => async () => {
      for (const [at, record] of records.entries()) records[at] = await act(record);
    };
    const requestsOf = (act: () => Promise<unknown>) => recordRequests(stage.cluster.server, act);
    const create = async () => {
      for (const address of addresses) records.push(await taken(stage.ledger, specOf(address)));
    };
    const amend = each((seen) => amended(stage.ledger, seen, heldBy(seen.spec, { attachGeneration: 2 })));
    const retain = each((seen) => amended(stage.ledger, seen, inState(seen.spec, 'Retained')));
    const takeOver = each(async (seen) => {
      const outcome = await stage.ledger.takeOver(seen, heldBy(inState(seen.spec, 'Allocated'), { uid: 'next' }));
      return outcome.done ? outcome.record : seen;
    });
    const release = async () => {
      for (const record of records) expect(await stage.ledger.release(record)).toEqual({ done: true });
    };
    expect(await requestsOf(create)).toEqual({ POST: 10 });
    expect(await requestsOf(amend)).toEqual({ PUT: 10 });
    expect(await requestsOf(retain)).toEqual({ PUT: 10 });
    expect(await requestsOf(takeOver)).toEqual({ PUT: 10 });
    expect(await requestsOf(release)).toEqual({ DELETE: 10 });
    expect(await stage.all()).toEqual([]);
  });

  test('a lost create one more, to learn who has the address', async () => {
    const first = await taken(stage.onlooker, SPEC);
    const second = async () =>
      expect(await stage.ledger.create(heldBy(SPEC, OTHER_POD))).toEqual({ taken: false, record: first });
    expect(await recordRequests(stage.cluster.server, second)).toEqual({ POST: 1, GET: 1 });
  });

  test('a refused release none, an amend of what is changed one more, to tell it from gone', async () => {
    const requestsOf = (act: () => Promise<unknown>) => recordRequests(stage.cluster.server, act);
    const amend = (seen: IpRecord) => stage.ledger.amend(seen, heldBy(SPEC, { attachGeneration: 7 }));
    const seen = await taken(stage.ledger, SPEC);
    const now = await amended(stage.ledger, seen, heldBy(SPEC, { attachGeneration: 2 }));
    expect(await requestsOf(() => stage.ledger.release(seen))).toEqual({ DELETE: 1 });
    expect(await requestsOf(() => amend(seen))).toEqual({ PUT: 1, GET: 1 });
    await stage.ledger.release(now);
    expect(await requestsOf(() => stage.ledger.release(now))).toEqual({ DELETE: 1 });
    expect(await requestsOf(() => amend(now))).toEqual({ PUT: 1 });
  });
});

/** Does the write, loses its answer, and lets the next connection through. */
async function losingTheAnswer<T>(
  write: (ledger: Ledger) => Promise<T>,
  isDone: () => Promise<boolean>,
  meanwhile = async () => {},
): Promise<T> {
  await using proxy = await startTcpProxy(stage.cluster.port);
  using client = stage.cluster.agent({ ...IMPATIENT, port: proxy.port });
  const cutOff = openKubernetesLedger(client);
  await cutOff.get('10.0.0.1');
  proxy.hold('answers');
  const writing = write(cutOff);
  while (!(await isDone())) await wait(10);
  await meanwhile();
  proxy.cut();
  proxy.release();
  return await writing;
}

describe('an answer that is lost after the write was done', () => {
  const isThere = async () => (await stage.onlooker.get('10.0.0.1')) !== null;
  const isAttached = async () => (await stage.onlooker.get('10.0.0.1'))?.spec.holder.attachGeneration === 5;

  test('a create is taken, with the record that is there', async () => {
    const outcome = await losingTheAnswer((cutOff) => cutOff.create(SPEC), isThere);
    expect(outcome).toEqual({ taken: true, record: await stage.onlooker.get('10.0.0.1'), mayStillLand: true });
    expect(await stage.all()).toHaveLength(1);
  });

  test('a create that was released and taken by another meanwhile is not', async () => {
    let now: IpRecord | undefined;
    const outcome = await losingTheAnswer(
      (cutOff) => cutOff.create(SPEC),
      isThere,
      async () => {
        const ours = await stage.onlooker.get('10.0.0.1');
        if (ours !== null) await stage.onlooker.release(ours);
        now = await taken(stage.onlooker, heldBy(SPEC, OTHER_POD));
      },
    );
    expect(outcome).toEqual({ taken: false, record: now, mayStillLand: true });
  });

  test('a create of a Suspect record of the same pod is not taken: it must be probed', async () => {
    const outcome = await losingTheAnswer(
      (cutOff) => cutOff.create(SPEC),
      isThere,
      async () => {
        const ours = await stage.onlooker.get('10.0.0.1');
        if (ours !== null) await amended(stage.onlooker, ours, inState(SPEC, 'Suspect'));
      },
    );
    expect(outcome).toMatchObject({ taken: false, record: { spec: { state: 'Suspect' } } });
  });

  test('an amendment is done, with the record that is there', async () => {
    const seen = await taken(stage.ledger, SPEC);
    const outcome = await losingTheAnswer(
      (cutOff) => cutOff.amend(seen, heldBy(SPEC, { attachGeneration: 5 })),
      isAttached,
    );
    expect(outcome).toEqual({ done: true, record: await stage.onlooker.get('10.0.0.1') });
  });

  test('an amendment that was overwritten returns changed', async () => {
    const seen = await taken(stage.ledger, SPEC);
    const outcome = await losingTheAnswer(
      (cutOff) => cutOff.amend(seen, heldBy(SPEC, { attachGeneration: 5 })),
      isAttached,
      async () => {
        const ours = await stage.onlooker.get('10.0.0.1');
        if (ours !== null) await amended(stage.onlooker, ours, inState(ours.spec, 'Suspect'));
      },
    );
    expect(outcome).toEqual({ done: false, because: 'changed' });
  });

  test('a release is done', async () => {
    const seen = await taken(stage.ledger, SPEC);
    const outcome = await losingTheAnswer(
      (cutOff) => cutOff.release(seen),
      async () => !(await isThere()),
    );
    expect(outcome).toEqual({ done: true });
  });

  test('a release is done, and the next holder of the address keeps it', async () => {
    const seen = await taken(stage.ledger, SPEC);
    const outcome = await losingTheAnswer(
      (cutOff) => cutOff.release(seen),
      async () => !(await isThere()),
      async () => void (await taken(stage.onlooker, heldBy(SPEC, OTHER_POD))),
    );
    expect(outcome).toEqual({ done: true });
    expect(await stage.onlooker.get('10.0.0.1')).toMatchObject({ spec: { holder: OTHER_POD } });
  });

  test('a create whose server died of it is found again by the next one', async () => {
    const outcome = await losingTheAnswer(
      (cutOff) => cutOff.create(SPEC, inSeconds(60)),
      isThere,
      () => stage.cluster.server.restart(),
    );
    expect(outcome).toEqual({ taken: true, record: await stage.onlooker.get('10.0.0.1'), mayStillLand: true });
    expect(await stage.all()).toHaveLength(1);
  });
});
