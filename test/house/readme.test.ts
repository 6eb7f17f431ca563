import { expect, test } from 'vitest';
import { existsInRoot, listAreas, readRootFile } from './source-files.ts';

const readme = readRootFile('README.md');

test('the map has every room, and no other', () => {
  const mapped = [...readme.matchAll(/^\| `([a-z0-9/-]+)\/` \|/gm)].map(([, room]) => room);
  expect(mapped.toSorted()).toEqual(listAreas());
});

test('the two commands are named', () => {
  expect(readme).toContain('./hack/demo');
  expect(readme).toContain('./hack/test');
});

test('every link to a page of this repository has a target', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path]) => path ?? '');
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((path) => !existsInRoot(path))).toEqual([]);
});
