import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { ROOMS } from './rooms.ts';
import { readSourceFiles, roomOf } from './source-files.ts';

const names = readSourceFiles().map(({ path }) => ({
  path,
  name: basename(path).replace(/(\.prop)?(\.test)?\.ts$/, ''),
}));

test('files are named in kebab-case', () => {
  expect(names.filter(({ name }) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)).map(({ path }) => path)).toEqual([]);
});

test('no file has a name without a meaning, such as utils', () => {
  const vague = /(^|-)(utils?|helpers?|common|misc|manager)$/;
  expect(names.filter(({ name }) => vague.test(name)).map(({ path }) => path)).toEqual([]);
});

test('an exported name means one thing in the whole repository', () => {
  const exported = readSourceFiles()
    .filter(({ path }) => roomOf(path) in ROOMS && !path.endsWith('.test.ts'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm)].map(
        ([, name = '']) => ({
          path,
          name,
        }),
      ),
    );
  const places = Map.groupBy(exported, ({ name }) => name);
  expect(places.size).toBeGreaterThan(500);
  const twice = [...places].filter(([, found]) => found.length > 1).map(([name]) => name);
  expect(twice).toEqual([]);
});
