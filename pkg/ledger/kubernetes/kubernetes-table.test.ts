import { describe, expect, test } from 'vitest';
import { expectFailure } from '#test/contract/ledger-resource.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { openLedgerOn, openScriptedLedger, storedAs } from '#test/support/scripted-kubernetes-ledger.ts';
import { statusBody } from '#test/support/scripted-server.ts';

describe('a table', () => {
  const COLUMNS = ['Name', 'POOL', 'STATE'];
  const table = (rows: readonly (readonly unknown[])[], columns = COLUMNS) => ({
    kind: 'Table',
    metadata: { resourceVersion: '5' },
    columnDefinitions: columns.map((name) => ({ name })),
    rows: rows.map((cells) => ({ cells })),
  });

  test('gives addresses by name, state and node, wherever its columns are', async () => {
    const rows = [
      ['worker-1', 'Suspect', 'x', 'fd00-0000-0000-0000-0000-0000-0000-000a', 'p'],
      [null, 'Allocated', 'x', '10.0.0.1.blue', 'p'],
      ['worker-2', 'Allocated', 'x', '10.0.0.2', 'q'],
    ];
    const columns = ['NODE', 'STATE', 'ADDRESS', 'Name', 'POOL'];
    await using made = await openLedgerOn({ GET: [[200, table(rows, columns)]] });
    const { ledger } = made;
    expect(await ledger.takenOf('p')).toEqual([
      { value: (0xfd00n << 112n) | 0xan, family: 6, domain: 'default', state: 'Suspect', node: 'worker-1' },
      { value: 0x0a000001n, family: 4, domain: 'blue', state: 'Allocated', node: '' },
    ]);
  });

  test.each([
    { name: 'a state that nobody knows', rows: [['10.0.0.1', 'p', 'Lent']] },
    { name: 'no state', rows: [['10.0.0.1', 'p', null]] },
    { name: 'a name that is no address', rows: [['web', 'p', 'Allocated']] },
    { name: 'no name', rows: [[null, 'p', 'Allocated']] },
  ])('is not guessed at: $name', async ({ rows }) => {
    await using made = await openLedgerOn({ GET: [[200, table(rows)]] });
    const { ledger } = made;
    await expectFailure(ledger.takenOf('p'), 'io-failure');
  });

  test('without a column that is needed is of another version', async () => {
    await using made = await openLedgerOn({ GET: [[200, table([['10.0.0.1', 'p']], ['Name', 'POOL'])]] });
    const { ledger } = made;
    expect((await expectFailure(ledger.takenOf('p'), 'bad-config')).message).toContain('column STATE');
  });

  test('of a page is filled up where records went away meanwhile', async () => {
    const rows = [1, 2, 3, 4, 5, 6].map((n) => [`10.0.0.${n}`, 'p', 'Allocated']);
    await using made = await openScriptedLedger((request) => {
      const name = request.path.split('/').at(-1) ?? '';
      if (name === 'iprecords') return request.answer(200, table(rows));
      if (name === '10.0.0.2' || name === '10.0.0.3') {
        return request.answer(404, statusBody(404, 'NotFound', { name, kind: 'iprecords' }));
      }
      request.answer(200, storedAs(specOf(name)).object);
    });
    const { ledger } = made;
    const page = await ledger.list({ limit: 3 });
    expect(page.map(({ name }) => name)).toEqual(['10.0.0.1', '10.0.0.4', '10.0.0.5']);
    expect(await ledger.list({ limit: 0 })).toEqual([]);
  });
});
