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

test('no file is named for nothing in particular', () => {
  const vague = /(^|-)(utils?|helpers?|common|misc|manager)$/;
  expect(names.filter(({ name }) => vague.test(name)).map(({ path }) => path)).toEqual([]);
});

/** Names that two rooms use for the same idea, each on its own side: they never meet in one file. */
const SHARED: readonly string[] = [
  'Attachment', // of one CNI call: as the plugin reads it, and as the agent keys it
  'PodFacts', // what agent and controller each read of a pod
  'check', // the verb of the plugin and the command of ipledgerctl
  'exchange', // one request and its answer on a connection
  'gc',
  'quote', // of text that the plugin bounds itself: it may import nothing else
  'readStdin',
];

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
  expect(twice.filter((name) => !SHARED.includes(name))).toEqual([]);
});
