import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NamespacedMap } from './namespaced-map.ts';

const step = fc.record({
  do: fc.constantFrom('set', 'delete'),
  namespace: fc.constantFrom('', 'a', 'b'),
  name: fc.constantFrom('x', 'y', 'a'),
  value: fc.nat(9),
});

test('it behaves like a map of both names', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const map = new NamespacedMap<number>();
      const model = new Map<string, number>();
      for (const { do: act, namespace, name, value } of steps) {
        const key = `${namespace}/${name}`;
        if (act === 'set') map.set(namespace, name, value);
        else expect(map.delete(namespace, name)).toBe(model.has(key));
        if (act === 'set') model.set(key, value);
        else model.delete(key);
        expect(map.get(namespace, name)).toBe(model.get(key));
      }
      expect(map.size).toBe(model.size);
      const entries = [...map.entries()].map(([namespace, name, value]) => [`${namespace}/${name}`, value]);
      expect(entries.sort()).toEqual([...model].sort());
      expect([...map.values()].sort()).toEqual([...model.values()].sort());
    }),
  );
});
