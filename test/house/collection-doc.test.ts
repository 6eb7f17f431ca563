import { expect, test } from 'vitest';
import { readFrom } from '#controller/controller-env.ts';
import { COLLECT_DEFAULTS } from '#controller/judge/collect-settings.ts';
import { CAUSES } from '#controller/judge/verdict.ts';
import { EnvReader } from '#pkg/config/env-reader.ts';
import { readRootFile } from './source-files.ts';

const page = readRootFile('docs/collection.md');
const rowsOf = (heading: string) => {
  const section = page.slice(page.indexOf(`## ${heading}`)).split(/^## /m)[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
};
const settings = rowsOf('Settings');

test('the page has exactly the variables that are read', () => {
  const reader = new EnvReader({ IPLEDGER_POD_NAME: 'a', IPLEDGER_POD_NAMESPACE: 'b' });
  readFrom(reader);
  expect(settings.map(([, name]) => name).sort()).toEqual([...reader.names].sort());
});

test('its defaults are those of the source', () => {
  const given = settings.filter(([, , value]) => value !== 'required' && value !== 'none');
  const documented = Object.fromEntries(given.map(([, name, value]) => [`SPIDERPOOL_${name}`, value]));
  const required = { SPIDERPOOL_POD_NAME: 'a', SPIDERPOOL_POD_NAMESPACE: 'b' };
  expect(given.length).toBeGreaterThan(15);
  expect(readFrom(new EnvReader({ ...required, ...documented }))).toEqual(readFrom(new EnvReader(required)));
  expect(readFrom(new EnvReader(required)).collect).toEqual(COLLECT_DEFAULTS);
});

test('the page has exactly the causes of the source', () => {
  expect(rowsOf('Watching it').map(([, cause]) => cause)).toEqual([...CAUSES]);
});
