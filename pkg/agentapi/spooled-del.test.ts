import { expect, test } from 'vitest';
import { spoolFileName } from './spooled-del.ts';

test.each([
  { ifName: 'eth0', name: 'c1@eth0.json' },
  { ifName: 'vlan.10-a_b', name: 'c1@vlan.10-a_b.json' },
  { ifName: 'a@b%c', name: 'c1@a%40b%25c.json' },
  { ifName: "!'()*~", name: 'c1@%21%27%28%29%2A%7E.json' },
  { ifName: 'é\\', name: 'c1@%C3%A9%5C.json' },
])('the DEL of $ifName is spooled as $name', ({ ifName, name }) => {
  expect(spoolFileName({ containerID: 'c1', ifName })).toBe(name);
});
