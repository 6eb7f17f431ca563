import { expect, test } from 'vitest';
import { keyOf, wants } from '#test/support/build-situation.ts';
import { shortageEvent } from './shortage-event.ts';

const lacking = (why: string, count = 4) => {
  const wanted = wants(keyOf('web'), count);
  return { wanted, application: wanted.key.application, interface: 'eth0', why };
};
const LEFT_2 = shortageEvent('office', lacking('required 4 more for 4 in all, left 2'));

test('the note has the numbers of this moment', () => {
  expect(LEFT_2.note).toBe('no addresses from SpiderSubnet office for eth0: required 4 more for 4 in all, left 2');
});

test.each([
  { name: 'another number of free addresses', lacks: lacking('required 4 more for 4 in all, left 1'), isSame: true },
  { name: 'another wish', lacks: lacking('required 8 more for 8 in all, left 2', 8), isSame: false },
  { name: 'another reason', lacks: lacking('the subnet is being deleted'), isSame: false },
])('a new Event or not: $name', ({ lacks, isSame }) => {
  expect(shortageEvent('office', lacks).sameAs === LEFT_2.sameAs).toBe(isSame);
});
