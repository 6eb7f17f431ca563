import { expect, test } from 'vitest';
import { failure } from '#pkg/kube/objects/outcome.ts';
import { GoneConfigurations } from './gone-configurations.ts';

const AT = { namespace: 'datacenter-01', name: 'web-server-01' };
const OBJECT = { metadata: { ...AT, uid: 'u', resourceVersion: '1' } };

function build() {
  const world = { nowMs: 0, isCached: false, answer: failure('NotFound', 'gone') as object };
  const deleted = () => {
    world.isCached = false;
  };
  const client = { timing: { nowMs: () => world.nowMs }, get: async () => world.answer };
  const fresh = { get: () => (world.isCached ? OBJECT : null), wrote: () => {}, deleted };
  return { world, gone: new GoneConfigurations(client as never, fresh as never) };
}

test('its absence is timed from the first read of the API server, not from a watch', async () => {
  const { world, gone } = build();
  expect(gone.goneMs(AT)).toBeNull();
  expect(await gone.look(AT)).toBe(true);
  world.nowMs = 40_000;
  expect(await gone.look(AT)).toBe(true);
  world.nowMs = 60_000;
  expect(gone.goneMs(AT)).toBe(60_000);
});

test('one that is seen again, by a read or by the watch, is not gone', async () => {
  const { world, gone } = build();
  await gone.look(AT);
  world.isCached = true;
  expect(gone.goneMs(AT)).toBeNull();
  world.isCached = false;
  expect(gone.goneMs(AT)).toBeNull();
  await gone.look(AT);
  world.answer = { ok: true, object: OBJECT };
  expect(await gone.look(AT)).toBe(false);
  expect(gone.goneMs(AT)).toBeNull();
});

test('one that a late watch still shows is gone when the API server says so', async () => {
  const { world, gone } = build();
  world.isCached = true;
  expect(await gone.look(AT)).toBe(true);
  expect(gone.find(AT)).toBeNull();
  expect(gone.goneMs(AT)).toBe(0);
});

test('an API server that does not answer proves nothing', async () => {
  const { world, gone } = build();
  world.answer = failure('Forbidden', 'no');
  await expect(gone.look(AT)).rejects.toThrow('Forbidden');
  expect(gone.goneMs(AT)).toBeNull();
});
