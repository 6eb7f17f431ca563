import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { CONFIG_KEYS } from '#pkg/config/config-keys.ts';
import { valuesSchema } from '../../hack/values-schema.ts';
import { readRootFile } from './source-files.ts';

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

const schema = JSON.parse(readRootFile('deploy/chart/values.schema.json')) as Schema;
const extra = schema.properties['ipam']?.properties['extraConfig'];

test('the settings in values.schema.json are up to date with pkg/config; if not, run hack/generate', () => {
  const { path, text } = valuesSchema();
  expect(readRootFile(path)).toBe(text);
});

test('each key of conf.yml is either set by the chart or allowed in ipam.extraConfig', () => {
  const { data } = parse(readRootFile('deploy/config.yaml')) as { data: Readonly<Record<string, string>> };
  const set = Object.keys(parse(data['conf.yml'] ?? '') as object);
  const allowed = Object.keys(extra?.properties ?? {});
  expect(extra?.additionalProperties).toBe(false);
  expect([...set, ...allowed].toSorted()).toEqual(Object.keys(CONFIG_KEYS).toSorted());
});

test('the ranges of the schema are those that agent and controller read', () => {
  const ranges = Object.entries(CONFIG_KEYS).filter(([, it]) => it.schema['minimum'] !== undefined);
  expect(ranges.length).toBeGreaterThan(4);
  for (const [key, { read, schema: range }] of ranges) {
    const [lowest, highest] = [Number(range['minimum']), Number(range['maximum'])];
    for (const inside of [lowest, highest]) expect(read(inside, key)).toBe(inside);
    for (const outside of [lowest - 1, highest + 1]) expect(() => read(outside, key)).toThrow(key);
  }
});
