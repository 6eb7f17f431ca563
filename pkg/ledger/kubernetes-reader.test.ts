import { describe, expect, test } from 'vitest';
import { statusBody } from '#pkg/kube/scripted-server.ts';
import { expectFailure } from '#test/contract/ledger-resource.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { openLedgerOn, storedAs } from './kubernetes-scripted.ts';

const SPEC = specOf('10.0.0.1');
const { object: OBJECT, record: RECORD } = storedAs(SPEC);
const NOT_FOUND = statusBody(404, 'NotFound', { name: '10.0.0.1', kind: 'iprecords' });

describe('a read', () => {
  test('is repeated while the API server fails', async () => {
    await using made = await openLedgerOn({
      GET: [
        [500, ''],
        [503, ''],
        [200, OBJECT],
      ],
    });
    const { ledger, server } = made;
    expect(await ledger.get('10.0.0.1')).toEqual(RECORD);
    expect(server.requests).toHaveLength(3);
  });

  test('that cannot be made says so, and not that there is nothing', async () => {
    await using made = await openLedgerOn({ GET: [[500, '']] });
    const { ledger } = made;
    await expectFailure(ledger.get('10.0.0.1'), 'agent-unavailable');
    await expectFailure(ledger.byNode('n'), 'agent-unavailable');
    await expectFailure(ledger.takenOf('p'), 'agent-unavailable');
  });

  test('of a record knows its absence from that of the kind', async () => {
    await using made = await openLedgerOn({ GET: [[404, NOT_FOUND]] });
    const { ledger } = made;
    expect(await ledger.get('10.0.0.1')).toBeNull();
    for (const other of [
      '404 page not found',
      statusBody(404, 'NotFound'),
      statusBody(404, 'NotFound', { name: 'x' }),
    ]) {
      await using second = await openLedgerOn({ GET: [[404, other]] });
      const { ledger: unserved } = second;
      await expectFailure(unserved.get('10.0.0.1'), 'bad-config');
    }
  });
});
