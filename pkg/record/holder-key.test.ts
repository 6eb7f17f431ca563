import { expect, test } from 'vitest';
import { holderKey } from './holder-key.ts';

test('the key is kind, namespace, name, interface and family', () => {
  const holder = { kind: 'Pod', namespace: 'prod', name: 'web-0', interface: 'eth0' } as const;
  expect(holderKey(holder, 4)).toBe('Pod/prod/web-0/eth0/4');
  expect(holderKey({ ...holder, namespace: '' }, 6)).toBe('Pod//web-0/eth0/6');
});
