import { describe, expect, test } from 'vitest';
import { expectFailure } from '#test/contract/ledger-resource.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { openLedgerOn, openScriptedLedger, storedAs } from '#test/support/scripted-kubernetes-ledger.ts';
import { type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';

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

  test('is repeated while it is refused, for a server that was just started does not know its roles', async () => {
    await using made = await openLedgerOn({
      GET: [
        [403, statusBody(403, 'Forbidden')],
        [403, statusBody(403, 'Forbidden')],
        [200, OBJECT],
      ],
    });
    const { ledger, server } = made;
    expect(await ledger.get('10.0.0.1')).toEqual(RECORD);
    expect(server.requests).toHaveLength(3);
  });

  test('that is refused for good says so, well before its time is over', async () => {
    await using made = await openLedgerOn({ GET: [[403, statusBody(403, 'Forbidden')]] });
    const { ledger, server } = made;
    const error = await expectFailure(ledger.get('10.0.0.1'), 'bad-config');
    expect(error.message).toContain('this account is not allowed to');
    expect(server.requests.length).toBeGreaterThan(1);
    expect(server.requests.length).toBeLessThan(20);
  });

  test('that cannot be made says so, and not that there is nothing', async () => {
    await using made = await openLedgerOn({ GET: [[500, '']] });
    const { ledger } = made;
    const reads = [ledger.get('10.0.0.1'), ledger.byNode('n'), ledger.takenOf('p')];
    await Promise.all(reads.map((read) => expectFailure(read, 'api-server-unavailable')));
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

describe('a record that cannot be read', () => {
  const poison = (of: typeof OBJECT) => ({ ...of, spec: { ...(of['spec'] as object), until: 'soon' } });
  const FOREIGN = poison(storedAs(heldBy(specOf('10.0.0.2'), { name: 'mallory', node: 'evil' })).object);
  const OWN = poison(storedAs(specOf('10.0.0.3')).object);
  const listing = (...items: unknown[]) => ({ metadata: { resourceVersion: '9' }, items });

  test("of another is not in anybody's way", async () => {
    await using made = await openLedgerOn({ GET: [[200, listing(FOREIGN, OBJECT)]] });
    const { ledger } = made;
    expect(await ledger.byHolder('Pod/prod/web-0/eth0/4')).toEqual([RECORD]);
    expect(await ledger.byNode('worker-1')).toEqual([RECORD]);
  });

  test('of the very holder or node is said', async () => {
    await using made = await openLedgerOn({ GET: [[200, listing(OWN, OBJECT)]] });
    const { ledger } = made;
    await expectFailure(ledger.byHolder('Pod/prod/web-0/eth0/4'), 'io-failure');
    await expectFailure(ledger.byNode('worker-1'), 'io-failure');
  });

  test('is left out of a list, and told', async () => {
    const told: string[] = [];
    const onUnreadable = (name: string, why: string) => void told.push(`${name}: ${why}`);
    const names = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'];
    const table = {
      kind: 'Table',
      ...listing(),
      columnDefinitions: ['Name', 'POOL', 'STATE'].map((name) => ({ name })),
      rows: names.map((name) => ({ cells: [name, 'pool-a', 'Allocated'] })),
    };
    const script = ({ path, query, answer }: ScriptedRequest) => {
      const name = path.split('/').at(-1) ?? '';
      if (query.has('labelSelector')) return answer(200, listing(OWN, OBJECT));
      if (name === 'iprecords') return answer(200, table);
      answer(200, name === '10.0.0.3' ? OWN : storedAs(specOf(name)).object);
    };
    await using made = await openScriptedLedger(script, { onUnreadable });
    const { ledger } = made;
    const page = await ledger.list({ limit: 3 });
    expect(page.map(({ name }) => name)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.4']);
    expect(await ledger.list({ node: 'worker-1', limit: 3 })).toEqual([RECORD]);
    const why = 'the record 10.0.0.3 cannot be read: spec.until: not allowed in state Allocated';
    expect(told).toEqual([`10.0.0.3: ${why}`, `10.0.0.3: ${why}`]);
  });
});
