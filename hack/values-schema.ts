import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_KEYS } from '#pkg/config/config-keys.ts';

const ROOT = join(import.meta.dirname, '..');
const PATH = 'deploy/chart/values.schema.json';
const TEMPLATE = 'deploy/chart/templates/config.yaml';

interface Schema {
  readonly properties?: Record<string, Schema>;
}

/**
 * The schema of the chart's values, with what conf.yml allows: a key that the template sets from a value has its range there, every
 * other key is a property of `ipam.extraConfig`. A key in both places would make conf.yml unreadable.
 */
export function valuesSchema(): { path: string; text: string } {
  const schema = JSON.parse(readFileSync(join(ROOT, PATH), 'utf8')) as Schema;
  const template = readFileSync(join(ROOT, TEMPLATE), 'utf8');
  const set = new Map(
    [...template.matchAll(/^ {4}(\w+): \{\{ \.Values\.(\S+) \}\}$/gm)].map(([, key, at]) => [key, at]),
  );
  const others = Object.entries(CONFIG_KEYS).filter(([key]) => !set.has(key));
  const properties = Object.fromEntries(others.map(([key, it]) => [key, it.schema]));
  putAt(schema, 'ipam.extraConfig', { type: 'object', additionalProperties: false, properties });
  for (const [key, it] of Object.entries(CONFIG_KEYS)) {
    const at = set.get(key);
    if (at !== undefined) putAt(schema, at, it.schema);
  }
  return { path: PATH, text: `${toJson(schema)}\n` };
}

function putAt(schema: Schema, path: string, put: object): void {
  const words = path.split('.');
  const last = words.pop() ?? '';
  const parent = words.reduce<Schema | undefined>((at, word) => at?.properties?.[word], schema);
  if (parent?.properties?.[last] === undefined) throw new Error(`${PATH} has no ${path}`);
  parent.properties[last] = put;
}

/** As the formatter of this repository wants it: lists of words on one line. */
function toJson(value: object): string {
  return JSON.stringify(value, null, 2).replace(/\[\s+("[^[\]{}]*")\s+\]/g, (_, words: string) => {
    return `[${words.replace(/,\s+/g, ', ')}]`;
  });
}
