import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { KnownObjects, type WatchEvent } from './known-objects.ts';

const object = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    uid: fc.constantFrom('1', '2'),
    resourceVersion: fc.constantFrom('5', '6'),
  })
  .map((metadata): KubeObject => ({ metadata }));
const list = fc.uniqueArray(object, { selector: ({ metadata }) => metadata.name });
const step = fc.oneof(
  /** `brokenOff`: what was told of lists that failed before the one that ended. */
  fc.record({ list, brokenOff: fc.array(list, { maxLength: 2 }) }),
  fc.record({ type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), object }),
);

/** What a handler believes that only listens; it checks that each event makes sense to it. */
class Believer {
  readonly objects = new Map<string, KubeObject>();

  hear(event: WatchEvent): void {
    if (event.type === 'Synced') return;
    if (event.type === 'Deleted') {
      expect(this.objects.get(event.identity.name)?.metadata.uid).toBe(event.identity.uid);
      this.objects.delete(event.identity.name);
      return;
    }
    const before = this.objects.get(event.object.metadata.name);
    expect(before?.metadata.uid).toBe(event.type === 'Added' ? undefined : event.object.metadata.uid);
    this.objects.set(event.object.metadata.name, event.object);
  }
}

function tell(known: KnownObjects, items: readonly KubeObject[]): WatchEvent[] {
  known.begin();
  return items.flatMap((item) => [...known.put(item)]);
}

test('a handler that only listens knows what exists, whatever the order of lists and events', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const known = new KnownObjects();
      const believer = new Believer();
      const truth = new Map<string, KubeObject>();
      for (const it of steps) {
        if ('list' in it) {
          truth.clear();
          for (const item of it.list) truth.set(item.metadata.name, item);
          for (const event of it.brokenOff.flatMap((items) => tell(known, items))) believer.hear(event);
          for (const event of [...tell(known, it.list), ...known.end()]) believer.hear(event);
          continue;
        }
        const { name, uid } = it.object.metadata;
        if (it.type !== 'DELETED') truth.set(name, it.object);
        else if (truth.get(name)?.metadata.uid === uid) truth.delete(name);
        for (const event of known.apply({ type: it.type as 'ADDED', object: it.object })) believer.hear(event);
      }
      const versions = (map: Map<string, KubeObject>) =>
        [...map.values()].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort();
      expect(versions(believer.objects)).toEqual(versions(truth));
    }),
  );
});

test('an object that did not change is not told again, a list ends with Synced', () => {
  const known = new KnownObjects();
  const it = { metadata: { name: 'a', uid: '1', resourceVersion: '5' } };
  expect([...tell(known, [it]), ...known.end()].map(({ type }) => type)).toEqual(['Added', 'Synced']);
  expect([...tell(known, [it]), ...known.end()].map(({ type }) => type)).toEqual(['Synced']);
});

test('what a list lacks is gone only when the list has ended', () => {
  const known = new KnownObjects();
  const [a, b] = ['a', 'b'].map((name) => ({ metadata: { name, namespace: 'n', uid: '1', resourceVersion: '5' } }));
  if (a === undefined || b === undefined) throw new Error('two objects');
  expect([...tell(known, [a, b]), ...known.end()]).toHaveLength(3);
  expect(tell(known, [b])).toEqual([]);
  expect(tell(known, [a])).toEqual([]);
  expect([...known.end()]).toEqual([
    { type: 'Deleted', identity: { namespace: 'n', name: 'b', uid: '1' } },
    { type: 'Synced' },
  ]);
});
