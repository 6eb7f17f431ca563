import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { readSourceFiles } from './source-files.ts';

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
