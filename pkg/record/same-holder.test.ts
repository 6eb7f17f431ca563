import { expect, test } from 'vitest';
import { isSameHolder, isSameNic } from './same-holder.ts';

const WEB = { kind: 'Pod', namespace: 'prod', name: 'web-0', uid: 'u1', interface: 'eth0' } as const;

test.each([
  { name: 'itself', other: {}, holder: true, nic: true },
  { name: 'its next pod', other: { uid: 'u2' }, holder: true, nic: false },
  { name: 'its other interface', other: { interface: 'net1' }, holder: true, nic: false },
  { name: 'another name', other: { name: 'web-1' }, holder: false, nic: false },
  { name: 'another namespace', other: { namespace: 'test' }, holder: false, nic: false },
  { name: 'another kind', other: { kind: 'VirtualMachineInstance' as const }, holder: false, nic: false },
])('a holder and $name', ({ other, holder, nic }) => {
  expect(isSameHolder(WEB, { ...WEB, ...other })).toBe(holder);
  expect(isSameNic(WEB, { ...WEB, ...other })).toBe(nic);
});
