import { expect, test } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { ObjectIdentity } from '#pkg/kube/watch/known-objects.ts';
import { FreshObjects } from './fresh-objects.ts';

const AT = { namespace: 'prod', name: 'vm-0' };

function build() {
  const listeners = new Listeners<ObjectIdentity>();
  let cached: KubeObject | null = null;
  let nowMs = 0;
  const view = {
    synced: Promise.resolve(),
    get: () => cached,
    all: () => [],
    onChange: (listener: (at: ObjectIdentity) => void) => listeners.add(listener),
    [Symbol.asyncDispose]: async () => {},
  };
  const fresh = new FreshObjects(view, () => nowMs);
  /** The watch tells. */
  const see = (object: KubeObject | null, uid = 'a') => {
    cached = object;
    listeners.tell({ ...AT, uid });
  };
  return {
    fresh,
    see,
    wait: (ms: number) => {
      nowMs += ms;
    },
    version: () => fresh.get(AT)?.metadata.resourceVersion,
  };
}

const at = (resourceVersion: string, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  metadata: { ...AT, uid: 'a', resourceVersion, ...more },
});

test('an own write is seen before the watch tells of it, and the watch has the last word', () => {
  const { fresh, see, version } = build();
  see(at('5'));
  fresh.wrote(at('10'));
  expect(version()).toBe('10');
  see(at('7'));
  expect(version()).toBe('10');
  see(at('11'));
  expect(version()).toBe('11');
});

test('an answer that comes after its event, and after the end of the object, does not bring it back', () => {
  const { fresh, see, version } = build();
  see(at('10'));
  fresh.wrote(at('10'));
  see(null);
  expect(version()).toBeUndefined();
});

test('what was deleted by us is gone at once, and a later object of that name is not', () => {
  const { fresh, see, version } = build();
  see(at('5'));
  fresh.deleted({ ...AT, uid: 'a' });
  expect(version()).toBeUndefined();
  fresh.wrote(at('9', { uid: 'b' }));
  expect(version()).toBe('9');
  see(null, 'a');
  expect(version()).toBe('9');
  see(at('9', { uid: 'b' }), 'b');
  see(null, 'b');
  expect(version()).toBeUndefined();
});

test('an object that lost its last finalizer while it was being deleted is gone', () => {
  const { fresh, see, version } = build();
  see(at('5'));
  fresh.wrote(at('6', { deletionTimestamp: '2026-11-18T16:00:00Z', finalizers: [] }));
  expect(version()).toBeUndefined();
});

test('an own write that no watch ever confirms is not believed for ever', () => {
  const { fresh, wait, version } = build();
  fresh.wrote(at('6'));
  wait(31_000);
  expect(version()).toBeUndefined();
});

test('an object that no watch has shown for 30 s is unconfirmed, until the watch tells of this very object', () => {
  const { fresh, see, wait } = build();
  fresh.wrote(at('5'));
  expect(fresh.isUnconfirmed(AT)).toBe(false);
  wait(31_000);
  expect(fresh.isUnconfirmed(AT)).toBe(true);
  see(null, 'earlier');
  expect(fresh.isUnconfirmed(AT)).toBe(true);
  see(at('5'));
  see(null);
  expect(fresh.isUnconfirmed(AT)).toBe(false);
});

test('an object that was read and is not there is not unconfirmed any more', () => {
  const { fresh, wait } = build();
  fresh.wrote(at('5'));
  wait(31_000);
  expect(fresh.isUnconfirmed(AT)).toBe(true);
  fresh.deleted({ ...AT, uid: '' });
  expect(fresh.isUnconfirmed(AT)).toBe(false);
});
