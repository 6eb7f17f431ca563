import { describe, expect, test } from 'vitest';
import { IP_ALLOCATION_CRD } from './ip-allocation-crd.ts';
import { IP_RECORD_CRD } from './ip-record-crd.ts';
import type { Schema } from './schema.ts';
import { SPIDER_ENDPOINT_CRD } from './spider-endpoint-crd.ts';
import { SPIDER_IP_POOL_CRD } from './spider-ip-pool-crd.ts';
import { SPIDER_RESERVED_IP_CRD } from './spider-reserved-ip-crd.ts';
import { SPIDER_SUBNET_CRD } from './spider-subnet-crd.ts';

interface Crd {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const CRDS = [
  IP_ALLOCATION_CRD,
  IP_RECORD_CRD,
  SPIDER_ENDPOINT_CRD,
  SPIDER_IP_POOL_CRD,
  SPIDER_RESERVED_IP_CRD,
  SPIDER_SUBNET_CRD,
] as readonly unknown[] as readonly Crd[];

/** Every field below a schema with its path, e.g. `.spec.ips`. The API server describes `metadata` itself. */
function* fieldsOf(schema: Schema, path = ''): Generator<{ path: string; schema: Schema }> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (`${path}.${name}` === '.metadata') continue;
    yield { path: `${path}.${name}`, schema: field };
    yield* fieldsOf(field, `${path}.${name}`);
    if (field.items !== undefined) yield* fieldsOf(field.items, `${path}.${name}[]`);
  }
}

describe.each(CRDS.map((crd) => ({ kind: crd.spec.names.kind, crd })))('$kind', ({ crd }) => {
  const versions = crd.spec.versions.map(({ schema }) => schema.openAPIV3Schema);
  const fields = versions.flatMap((schema) => [...fieldsOf(schema)]);

  test('has a description of the kind and of every field, which `kubectl explain` prints', () => {
    expect(versions.every(({ description }) => (description ?? '').length > 0)).toBe(true);
    expect(fields.length).toBeGreaterThan(3);
    expect(fields.filter(({ schema }) => (schema.description ?? '') === '').map(({ path }) => path)).toEqual([]);
  });

  test('says of every list how server-side apply merges it', () => {
    const lists = fields.filter(({ schema }) => schema.type === 'array');
    expect(
      lists.filter(({ schema }) => schema['x-kubernetes-list-type'] === undefined).map(({ path }) => path),
    ).toEqual([]);
  });
});
