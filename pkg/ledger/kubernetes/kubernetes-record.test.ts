import { describe, expect, test } from 'vitest';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import { expectFailure } from '#test/contract/ledger-resource.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { openLedgerOn, storedAs } from '#test/support/scripted-kubernetes-ledger.ts';
import { statusBody } from '#test/support/scripted-server.ts';

const SPEC = specOf('10.0.0.1');
const { object: OBJECT, record: RECORD } = storedAs(SPEC);
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
