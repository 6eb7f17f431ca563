import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asDnsSubdomain } from '#pkg/decode/untrusted.ts';
import { autoKey, WEB } from '#test/support/build-auto-pool.ts';
import { autoPoolNames, freePoolName } from './pool-name.ts';

const named = (name: string) => autoKey({ application: { ...WEB, name } });

test('the name is that of Spiderpool', () => {
  expect(autoPoolNames(autoKey())[0]).toBe('auto4-web-eth0-1f2e3');
  expect(autoPoolNames(autoKey({ family: 6, interface: 'net1' }))[0]).toBe('auto6-web-net1-1f2e3');
});

test('a name that another pool has gets a hash of the whole key', () => {
  const [first, second] = autoPoolNames(autoKey());
  expect(second).toMatch(/^auto4-web-eth0-1f2e3-[0-9a-f]{16}$/);
  expect(freePoolName(autoKey(), () => false)).toBe(first);
  expect(freePoolName(autoKey(), (name) => name === first)).toBe(second);
  expect(freePoolName(autoKey(), () => true)).toBeNull();
});

test.each([
  { name: 'another subnet', key: autoKey({ subnet: 'lab' }) },
  { name: 'another namespace', key: autoKey({ application: { ...WEB, namespace: 'test' } }) },
  { name: 'another kind', key: autoKey({ application: { ...WEB, kind: 'StatefulSet' } }) },
])('the same first name and another second one: $name', ({ key }) => {
  const [first, second] = autoPoolNames(autoKey());
  expect(autoPoolNames(key)[0]).toBe(first);
  expect(autoPoolNames(key)[1]).not.toBe(second);
});

test('names that differ only after the cut have different second names of at most 253 characters', () => {
  const [a, b] = [autoPoolNames(named(`${'a'.repeat(252)}b`)), autoPoolNames(named(`${'a'.repeat(252)}c`))];
  expect(a[0]).toBe(b[0]);
  expect(a[1]).not.toBe(b[1]);
  expect([...a, ...b].map(({ length }) => length)).toEqual([253, 253, 253, 253]);
});

test('any key has legal names', () => {
  const text = fc.string({ maxLength: 260, unit: 'binary-ascii' });
  const part = fc.stringMatching(/^[a-z0-9][-.a-z0-9]{0,250}[a-z0-9]$/);
  fc.assert(
    fc.property(fc.oneof(part, text), fc.string({ maxLength: 15 }), fc.oneof(fc.uuid(), text), (name, nic, uid) => {
      for (const made of autoPoolNames(autoKey({ interface: nic, application: { ...WEB, name, uid } })))
        expect(asDnsSubdomain(made, 'name')).toBe(made);
    }),
  );
});
