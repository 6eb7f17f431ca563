import { describe, expect, test } from 'vitest';
import { expectFailure, type MakeLedger, taken } from './ledger-resource.ts';
import { holderOf, inState, specOf } from './record-spec.ts';

const LONG = 'fd00:0000:0000:0000:0000:0000:0000:000a';

export function describeCreate(makeLedger: MakeLedger): void {
  describe('create', () => {
    test('the record carries its name, a uid, a version, a time and the whole spec', async () => {
      await using resource = await makeLedger();
      const spec = specOf('10.0.0.1', {
        gateway: '10.0.0.254',
        routes: [{ dst: '10.9.0.0/16', gw: '10.0.0.253' }],
        cleanGateway: true,
      });
      const record = await taken(resource.ledger, spec);
      expect(record).toMatchObject({ name: '10.0.0.1', spec });
      expect(record.uid).not.toBe('');
      expect(record.resourceVersion).not.toBe('');
      expect(Math.abs(Date.parse(record.createdAt) - Date.now())).toBeLessThan(60_000);
      expect(await resource.ledger.get('10.0.0.1')).toEqual(record);
    });

    test('a taken name is never overwritten, and the caller can get the record that has it', async () => {
      await using resource = await makeLedger();
      const first = await taken(resource.ledger, specOf('10.0.0.1'));
      const second = await resource.ledger.create(specOf('10.0.0.1', { holder: holderOf({ name: 'web-1' }) }));
      expect(second.taken).toBe(false);
      expect([first, null]).toContainEqual(second.record);
      expect(await resource.ledger.get('10.0.0.1')).toEqual(first);
    });

    test('a released name can be created again, with another uid and version', async () => {
      await using resource = await makeLedger();
      const first = await taken(resource.ledger, specOf('10.0.0.1'));
      await resource.ledger.release(first);
      const second = await taken(resource.ledger, specOf('10.0.0.1'));
      expect(second.uid).not.toBe(first.uid);
      expect(second.resourceVersion).not.toBe(first.resourceVersion);
    });

    test('the same address in two domains is two records', async () => {
      await using resource = await makeLedger();
      const plain = await taken(resource.ledger, specOf('10.0.0.1'));
      const blue = await taken(resource.ledger, specOf('10.0.0.1', { domain: 'blue' }));
      expect([plain.name, blue.name]).toEqual(['10.0.0.1', '10.0.0.1.blue']);
      expect((await resource.ledger.create(specOf('10.0.0.1', { domain: 'blue' }))).taken).toBe(false);
    });

    test.each(['fd00:0:0:0:0:0:0:a', LONG, 'FD00::A', 'fd00::0.0.0.10'])(
      'one IPv6 address has one record: %s is refused',
      async (spelling) => {
        await using resource = await makeLedger();
        const record = await taken(resource.ledger, specOf('fd00::a'));
        expect(record.name).toBe(LONG.replaceAll(':', '-'));
        await expectFailure(resource.ledger.create(specOf(spelling)), 'internal');
        expect(await resource.ledger.list({ limit: 10 })).toEqual([record]);
      },
    );

    test.each(['::ffff:10.0.0.1', '10.0.0.01', '10.0.0.1/24', ''])(
      '%j is not a way to write an address',
      async (text) => {
        await using resource = await makeLedger();
        await expectFailure(resource.ledger.create({ ...specOf('10.0.0.1'), address: text }), 'internal');
        expect(await resource.ledger.list({ limit: 10 })).toEqual([]);
      },
    );

    test.each(['Retained', 'Suspect', 'Cooling'] as const)('no record is created as %s', async (state) => {
      await using resource = await makeLedger();
      await expectFailure(resource.ledger.create(inState(specOf('10.0.0.1'), state)), 'internal');
      expect(await resource.ledger.get('10.0.0.1')).toBeNull();
    });

    test('a record can be created as Quarantined', async () => {
      await using resource = await makeLedger();
      const record = await taken(resource.ledger, inState(specOf('10.0.0.1'), 'Quarantined'));
      expect(record.spec.state).toBe('Quarantined');
    });
  });
}
