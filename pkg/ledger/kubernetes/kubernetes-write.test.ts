import { describe, expect, test } from 'vitest';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import { recordLabels } from '#pkg/record/record-metadata.ts';
import { amended, expectFailure } from '#test/contract/ledger-resource.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { openLedgerOn, openScriptedLedger, storedAs } from '#test/support/scripted-kubernetes-ledger.ts';
import { statusBody } from '#test/support/scripted-server.ts';

const SPEC = specOf('10.0.0.1');
const { object: OBJECT, record: RECORD } = storedAs(SPEC);
const NOT_FOUND = statusBody(404, 'NotFound', { name: '10.0.0.1', kind: 'iprecords' });
const TAKEN = statusBody(409, 'AlreadyExists');

describe('an answer is not believed', () => {
  const lies = [
    { name: 'the address of another record', lie: { ...OBJECT, spec: specOf('10.0.0.2') } },
    { name: 'another domain than the name says', lie: { ...OBJECT, spec: { ...SPEC, domain: 'blue' } } },
    { name: 'an address that is not canonical', lie: { ...OBJECT, spec: { ...SPEC, address: '10.0.0.01' } } },
    { name: 'no spec', lie: { metadata: OBJECT.metadata } },
    { name: 'a state that nobody knows', lie: { ...OBJECT, spec: { ...SPEC, state: 'Lent' } } },
    {
      name: 'no time of its creation',
      lie: { ...OBJECT, metadata: { ...OBJECT.metadata, creationTimestamp: undefined } },
    },
  ];

  test.each(lies)('to a read: $name', async ({ lie }) => {
    await using made = await openLedgerOn({ GET: [[200, lie]] });
    const { ledger } = made;
    const error = await expectFailure(ledger.get('10.0.0.1'), 'io-failure');
    expect(error.message).toContain('the record 10.0.0.1 cannot be read: ');
  });

  test.each(lies)('to a list: $name', async ({ lie }) => {
    await using made = await openLedgerOn({ GET: [[200, { metadata: { resourceVersion: '1' }, items: [lie] }]] });
    const { ledger } = made;
    await expectFailure(ledger.byNode('worker-1'), 'io-failure');
    await expectFailure(ledger.byHolder('Pod/prod/web-0/eth0/4'), 'io-failure');
  });

  test.each(lies)('to a write, after which the name is abandoned: $name', async ({ lie }) => {
    await using made = await openLedgerOn({ POST: [[201, lie]], PUT: [[200, lie]] });
    const { ledger } = made;
    const writes = [ledger.create(SPEC), ledger.amend(RECORD, heldBy(SPEC, { attachGeneration: 2 }))];
    for (const write of writes) {
      expect(abandonedName(await expectFailure(write, 'outcome-unknown'))).toBe('10.0.0.1');
    }
  });

  test.each(lies)('about who has the address: $name', async ({ lie }) => {
    await using made = await openLedgerOn({ POST: [[409, TAKEN]], GET: [[200, lie]] });
    const { ledger } = made;
    expect(await ledger.create(SPEC)).toEqual({ taken: false, record: null });
  });
});

describe('a create', () => {
  test('that was lost tells who has the address, where that can be read', async () => {
    for (const [reply, record] of [
      [[200, OBJECT], RECORD],
      [[404, NOT_FOUND], null],
      [[404, '404 page not found'], null],
      [[403, statusBody(403, 'Forbidden')], null],
      [[500, 'oops'], null],
    ] as const) {
      await using made = await openLedgerOn({ POST: [[409, TAKEN]], GET: [reply] });
      const { ledger, server } = made;
      expect(await ledger.create(SPEC)).toEqual({ taken: false, record });
      expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
    }
  });

  test('that was lost reads nothing where nobody wants to know who has the address', async () => {
    await using made = await openLedgerOn({ POST: [[409, TAKEN]], GET: [[200, OBJECT]] });
    expect(await made.ledger.create(SPEC, { tellsHolder: false })).toEqual({ taken: false, record: null });
    expect(made.server.requests.map(({ method }) => method)).toEqual(['POST']);
  });

  test('that went unanswered is looked up all the same: it may be ours', async () => {
    const POST = [
      [500, 'lost'],
      [409, TAKEN],
    ] as const;
    await using made = await openLedgerOn({ POST: [...POST], GET: [[200, OBJECT]] });
    expect(await made.ledger.create(SPEC, { tellsHolder: false })).toMatchObject({ taken: true, record: RECORD });
  });

  test.each([
    { name: 'it is', found: SPEC, isOurs: true },
    {
      name: 'written by an earlier call of the same pod',
      found: heldBy(SPEC, { containerID: 'before' }),
      isOurs: true,
    },
    { name: 'of an earlier pod of the name', found: heldBy(SPEC, { uid: 'before' }), isOurs: false },
    { name: 'of another kind', found: heldBy(SPEC, { kind: 'Container' }), isOurs: false },
    { name: 'of another namespace', found: heldBy(SPEC, { namespace: 'test' }), isOurs: false },
    { name: 'of another name', found: heldBy(SPEC, { name: 'web-9' }), isOurs: false },
    { name: 'of another interface', found: heldBy(SPEC, { interface: 'net1' }), isOurs: false },
    { name: 'in another state', found: { ...SPEC, state: 'Retained' } as const, isOurs: false },
  ])('that went unanswered is ours or not by what is found: $name', async ({ found, isOurs }) => {
    const object = { ...OBJECT, spec: found };
    await using made = await openLedgerOn({
      POST: [
        [500, 'lost'],
        [409, TAKEN],
      ],
      GET: [[200, object]],
    });
    const { ledger } = made;
    expect(await ledger.create(SPEC)).toEqual({
      taken: isOurs,
      record: { ...RECORD, spec: found },
      mayStillLand: true,
    });
  });

  test('whose first try was refused or answered leaves no doubt behind', async () => {
    const busy = [429, statusBody(429, 'TooManyRequests')] as const;
    await using made = await openLedgerOn({ POST: [busy, [201, OBJECT]] });
    expect(await made.ledger.create(SPEC)).toEqual({ taken: true, record: RECORD });
  });

  test('of a holder without a uid is ours only as a whole', async () => {
    const { uid: _, ...holder } = SPEC.holder;
    const spec = { ...SPEC, holder };
    for (const [found, isOurs] of [
      [spec, true],
      [heldBy(spec, { containerID: 'another' }), false],
    ] as const) {
      const object = { ...OBJECT, spec: found };
      await using made = await openLedgerOn({
        POST: [
          [500, 'lost'],
          [409, TAKEN],
        ],
        GET: [[200, object]],
      });
      const { ledger } = made;
      expect((await ledger.create(spec)).taken).toBe(isOurs);
    }
  });

  test('is not lost by a 409 without a reason: nobody knows what it means', async () => {
    await using made = await openLedgerOn({ POST: [[409, {}]], GET: [[404, NOT_FOUND]] });
    const { ledger, server } = made;
    const error = await expectFailure(ledger.create(SPEC), 'outcome-unknown');
    expect(abandonedName(error)).toBe('10.0.0.1');
    expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(['/apis/ipledger.io/v1alpha1/iprecords']));
  });

  test.each([
    { status: 403, reason: 'Forbidden', as: 'bad-config', text: 'not allowed' },
    { status: 401, reason: 'Unauthorized', as: 'api-server-unavailable', text: 'credentials' },
    { status: 404, reason: 'NotFound', as: 'bad-config', text: 'does not serve the kind IPRecord' },
    { status: 422, reason: 'Invalid', as: 'internal', text: 'refused it as invalid' },
    { status: 405, reason: 'MethodNotAllowed', as: 'internal', text: 'refused it as invalid' },
    { status: 409, reason: 'Conflict', as: 'internal', text: 'because of Conflict' },
  ] as const)('is refused for good by $status $reason', async ({ status, reason, as, text }) => {
    await using made = await openLedgerOn({ POST: [[status, statusBody(status, reason)]] });
    const { ledger, server } = made;
    const error = await expectFailure(ledger.create(SPEC), as);
    expect(error.message).toContain(`cannot create the record 10.0.0.1: `);
    expect(error.message).toContain(text);
    expect(abandonedName(error)).toBeNull();
    // A 403 may pass: a server that was just started does not know its roles yet.
    if (status === 403) expect(server.requests.length).toBeGreaterThan(1);
    else expect(server.requests.length).toBe(status === 401 ? 2 : 1);
  });

  test('waits out a 429, and abandons nothing if that takes too long', async () => {
    const busy = statusBody(429, 'TooManyRequests', { retryAfterSeconds: 1 });
    await using made = await openLedgerOn({
      POST: [
        [429, busy],
        [201, OBJECT],
      ],
    });
    const { ledger } = made;
    expect(await ledger.create(SPEC, { deadlineMs: performance.now() + 10_000 })).toMatchObject({ taken: true });
    // Longer than the call may take, so that it does not depend on the speed of the machine when the time is over.
    const busyForLong = statusBody(429, 'TooManyRequests', { retryAfterSeconds: 30 });
    await using second = await openLedgerOn({ POST: [[429, busyForLong]] });
    const { ledger: other } = second;
    expect(abandonedName(await expectFailure(other.create(SPEC), 'api-server-unavailable'))).toBeNull();
  });

  test('that has no time left is not sent', async () => {
    await using made = await openLedgerOn({ POST: [[201, OBJECT]] });
    const { ledger, server } = made;
    const error = await expectFailure(ledger.create(SPEC, { deadlineMs: performance.now() }), 'out-of-time');
    expect(abandonedName(error)).toBeNull();
    expect(server.requests).toEqual([]);
  });
});

describe('a record that is marked as deleted', () => {
  const deletionTimestamp = '2026-11-16T10:00:00Z';
  const marked = (spec = SPEC) => ({
    ...OBJECT,
    metadata: { ...OBJECT.metadata, deletionTimestamp, finalizers: ['example.org/stay'] },
    spec,
  });
  const next = heldBy(SPEC, { attachGeneration: 2 });

  test('was not taken by the create that finds it', async () => {
    await using made = await openLedgerOn({
      POST: [
        [500, 'lost'],
        [409, TAKEN],
      ],
      GET: [[200, marked()]],
    });
    expect(await made.ledger.create(SPEC)).toMatchObject({ taken: false, record: null });
  });

  test('is gone for an update, though the API server accepts it: it drops the finalizer', async () => {
    await using made = await openLedgerOn({ PUT: [[200, marked(next)]] });
    expect(await made.ledger.amend(RECORD, next)).toEqual({ done: false, because: 'gone' });
  });

  test('is gone for an update that went unanswered', async () => {
    await using made = await openLedgerOn({
      PUT: [
        [500, 'lost'],
        [409, statusBody(409, 'Conflict')],
      ],
      GET: [[200, marked(next)]],
    });
    expect(await made.ledger.amend(RECORD, next)).toEqual({ done: false, because: 'gone' });
  });

  test('is not released yet', async () => {
    await using made = await openLedgerOn({ DELETE: [[200, marked()]] });
    expect(await made.ledger.release(RECORD)).toEqual({ done: false, because: 'changed' });
  });

  test('is returned by no read', async () => {
    const items = [marked(), storedAs(specOf('10.0.0.2')).object];
    await using made = await openScriptedLedger(({ path, answer }) => {
      if (path.endsWith('/iprecords')) answer(200, { metadata: { resourceVersion: '9' }, items });
      else answer(200, marked());
    });
    const { ledger } = made;
    expect(await ledger.get('10.0.0.1')).toBeNull();
    expect((await ledger.byNode('worker-1')).map(({ name }) => name)).toEqual(['10.0.0.2']);
    expect((await ledger.byHolder('Pod/prod/web-0/eth0/4')).map(({ name }) => name)).toEqual(['10.0.0.2']);
  });
});

describe('a conflict of an update', () => {
  test.each([
    { name: 'the record is there', reply: [200, OBJECT], because: 'changed' },
    { name: 'it is gone, as older API servers mean by it', reply: [404, NOT_FOUND], because: 'gone' },
    { name: 'the kind is not served', reply: [404, '404 page not found'], because: 'changed' },
    { name: 'nobody knows', reply: [500, ''], because: 'changed' },
  ] as const)('$name: $because', async ({ reply, because }) => {
    await using made = await openLedgerOn({ PUT: [[409, statusBody(409, 'Conflict')]], GET: [reply] });
    const { ledger } = made;
    expect(await ledger.amend(RECORD, heldBy(SPEC, { attachGeneration: 2 }))).toEqual({ done: false, because });
  });
});

test('a write carries what was seen as its preconditions, and the labels of what it writes', async () => {
  await using made = await openLedgerOn({ PUT: [[200, OBJECT]], DELETE: [[200, {}]] });
  const { ledger, server } = made;
  const next = heldBy(SPEC, { attachGeneration: 2, node: 'worker-7' });
  await amended(ledger, RECORD, next);
  await ledger.release(RECORD);
  const [put, remove] = server.requests.map(({ body }) => JSON.parse(body));
  const { name, uid, resourceVersion } = RECORD;
  expect(put.metadata).toEqual({ name, uid, resourceVersion, labels: recordLabels(next) });
  expect(remove.preconditions).toEqual({ uid, resourceVersion });
});
