import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { importsOf } from './imports-of.ts';
import { ROOMS } from './rooms.ts';
import { readSourceFiles, roomOf } from './source-files.ts';

const files = readSourceFiles();
const crossings = files.flatMap(({ path, text }) => importsOf(text).map((found) => ({ path, ...found })));
/** Tests beside the source may import more than production code. */
const shipped = crossings.filter(({ path }) => roomOf(path) in ROOMS && !path.endsWith('.test.ts'));

const isRelative = (from: string) => from.startsWith('.');
const targetOf = (from: string) => roomOf(from.slice(1));
const packageOf = (from: string) => from.split('/', from.startsWith('@') ? 2 : 1).join('/');
const show = ({ path, from }: { path: string; from: string }) => `${path} imports ${from}`;

test('the search finds source files', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(shipped.length).toBeGreaterThan(100);
});

test('ROOMS itself has no circle', () => {
  const order = Object.keys(ROOMS);
  const turning = Object.entries(ROOMS).flatMap(([room, { rooms }]) =>
    rooms.filter((other) => !order.slice(0, order.indexOf(room)).includes(other)).map((other) => `${room} → ${other}`),
  );
  expect(turning).toEqual([]);
});

test('every source is in a room of ROOMS, in hack or in test', () => {
  const homeless = files
    .map(({ path }) => roomOf(path))
    .filter((room) => !(room in ROOMS) && !/^(hack$|test\/)/.test(room));
  expect([...new Set(homeless)]).toEqual([]);
});

test('every room of ROOMS has production code', () => {
  const lived = new Set(files.filter(({ path }) => !path.endsWith('.test.ts')).map(({ path }) => roomOf(path)));
  expect(Object.keys(ROOMS).filter((room) => !lived.has(room))).toEqual([]);
});

test('no room has a permission that it does not use', () => {
  const used = new Set(
    shipped.filter(({ from }) => from.startsWith('#')).map(({ path, from }) => `${roomOf(path)} → ${targetOf(from)}`),
  );
  const own = (room: string) => /^(agent|controller|ctl|plugin)\//.test(room);
  const unused = Object.entries(ROOMS).flatMap(([room, { rooms }]) =>
    rooms.filter((other) => own(other) && !used.has(`${room} → ${other}`)).map((other) => `${room} → ${other}`),
  );
  expect(unused).toEqual([]);
});

test('two rooms never import each other, directly or through other rooms', () => {
  const graph = new Map<string, Set<string>>();
  for (const { path, from } of shipped) {
    if (!from.startsWith('#') || targetOf(from) === roomOf(path)) continue;
    graph.set(roomOf(path), (graph.get(roomOf(path)) ?? new Set()).add(targetOf(from)));
  }
  const reachable = (start: string): Set<string> => {
    const seen = new Set<string>();
    const open = [start];
    for (let room = open.pop(); room !== undefined; room = open.pop()) {
      for (const next of graph.get(room) ?? []) if (!seen.has(next)) open.push(next) && seen.add(next);
    }
    return seen;
  };
  expect(graph.size).toBeGreaterThan(40);
  expect([...graph.keys()].filter((room) => reachable(room).has(room))).toEqual([]);
});

test('a room has about 20 production files at most', () => {
  const sizes = Map.groupBy(
    files.filter(({ path }) => roomOf(path) in ROOMS && !path.endsWith('.test.ts')),
    ({ path }) => roomOf(path),
  );
  expect([...sizes].filter(([, inside]) => inside.length > 21).map(([room]) => room)).toEqual([]);
});

test('a room imports only the rooms that ROOMS allows', () => {
  const wrong = crossings.filter(({ path, from }) => {
    const room = roomOf(path);
    if (!from.startsWith('#') || !(room in ROOMS) || targetOf(from) === room) return false;
    const isForTests = path.endsWith('.test.ts') && from.startsWith('#test/');
    return !isForTests && !ROOMS[room]?.rooms.includes(targetOf(from));
  });
  expect(wrong.map(show)).toEqual([]);
});

test('imports across rooms use # names, so that every crossing is visible', () => {
  const wrong = crossings.filter(({ path, from }) => {
    if (!isRelative(from)) return false;
    const target = roomOf(posix.join(posix.dirname(path), from));
    return target !== roomOf(path) && !(path.startsWith('test/') && target === 'hack');
  });
  expect(wrong.map(show)).toEqual([]);
});

test('the modules of Node are imported only where ROOMS allows it', () => {
  const wrong = shipped.filter(({ path, from }) => {
    const allowed = ROOMS[roomOf(path)]?.node ?? 'none';
    return isBuiltin(from) && allowed !== 'all' && (allowed === 'none' || !allowed.test(path));
  });
  expect(wrong.map(show)).toEqual([]);
});

test('an npm package is imported only by the rooms that may use it', () => {
  const wrong = shipped.filter(({ path, from }) => {
    if (isRelative(from) || from.startsWith('#') || isBuiltin(from)) return false;
    return !ROOMS[roomOf(path)]?.packages.includes(packageOf(from));
  });
  expect(wrong.map(show)).toEqual([]);
});

test('there are no barrels', () => {
  expect(crossings.filter(({ isPassedOn }) => isPassedOn).map(show)).toEqual([]);
  expect(files.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)).toEqual([]);
});
