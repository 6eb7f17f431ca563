import { expect, test } from 'vitest';
import { FreshRecords } from '#controller/give/fresh-records.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildAllocationRecord, buildNetwork } from '#test/support/build-allocation.ts';
import { UsedDomains } from './used-domains.ts';

const poolIn = (domain?: string) => {
  const annotations = domain === undefined ? {} : { 'ipledger.io/domain': domain };
  const { network } = buildNetwork({ metadata: { annotations } });
  return network?.pool ?? expect.unreachable();
};

function build() {
  const records: IpRecord[] = [];
  let looks = 0;
  const domains = new UsedDomains({
    walkPool: (name) => {
      looks += 1;
      return records.filter(({ spec }) => spec.pool.name === name);
    },
  });
  return { domains, records, looks: () => looks };
}

test('a pool whose records are in its domain is looked through once', () => {
  const { domains, records, looks } = build();
  records.push(buildAllocationRecord());
  const pool = poolIn();
  expect([domains.otherThan(pool), domains.otherThan(pool), looks()]).toEqual([null, null, 1]);
});

test('a record that is being created counts, although no view shows it yet', async () => {
  const { domains } = build();
  const created = Promise.withResolvers<void>();
  const creating = domains.during(poolIn(), () => created.promise);
  const moved = poolIn('blue');
  expect(domains.otherThan(moved)).toBe('default');
  expect(domains.otherThan(poolIn())).toBeNull();
  created.resolve();
  await creating;
  expect(domains.otherThan(moved)).toBeNull();
});

test('a record that was created counts before the watch shows it, and no longer once it was released', () => {
  const view = {
    get: () => null,
    ofHolder: () => [],
    walkPool: () => [],
    onChange: () => ({ [Symbol.dispose]: () => {} }),
  };
  const records = new FreshRecords(view as never, () => 0);
  const domains = new UsedDomains(records);
  const record = buildAllocationRecord();
  records.wrote(record);
  const moved = poolIn('blue');
  expect(domains.otherThan(moved)).toBe('default');
  records.released(record);
  expect(domains.otherThan(moved)).toBeNull();
});

test('an edit is looked at anew: addresses in use keep it in their domain until the last of them is given back', () => {
  const { domains, records } = build();
  records.push(buildAllocationRecord());
  expect(domains.otherThan(poolIn())).toBeNull();
  const moved = poolIn('blue');
  expect(domains.otherThan(moved)).toBe('default');
  records.pop();
  expect(domains.otherThan(moved)).toBeNull();
});
