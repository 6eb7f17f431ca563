import type { Schema } from './schema.ts';

/** `wide` columns are shown by `kubectl get -o wide` only. */
export type Column = readonly [
  name: string,
  type: 'string' | 'integer' | 'boolean' | 'date',
  jsonPath: string,
  ...('wide' | never)[],
];

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly categories: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  readonly hasStatusSubresource: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  /** What lists and watches may choose by, as `--field-selector` of kubectl. */
  readonly selectable?: readonly string[];
  /** The whole object; apiVersion, kind and metadata are added where they are missing. */
  readonly schema: Schema;
}

const WIDE_PRIORITY = 10;

/** The CustomResourceDefinition of a kind, as the API server reads it. */
export function customResource({ group, version, kind, plural, shortName, categories, scope, ...rest }: Kind): object {
  const { schema, columns, selectable, hasStatusSubresource, labels } = rest;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(labels === undefined ? {} : { labels }) },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories,
      },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: hasStatusSubresource ? { status: {} } : {},
          additionalPrinterColumns: columns.map(toPrinterColumn),
          ...(selectable === undefined ? {} : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
          schema: { openAPIV3Schema: withEnvelope(schema) },
        },
      ],
    },
  };
}

function toPrinterColumn([name, type, jsonPath, wide]: Column): object {
  return { name, type, jsonPath, ...(wide === undefined ? {} : { priority: WIDE_PRIORITY }) };
}

function withEnvelope(schema: Schema): Schema {
  const envelope = {
    apiVersion: { type: 'string', description: 'Group and version of the kind.' },
    kind: { type: 'string', description: 'The kind of the object.' },
    metadata: { type: 'object' },
  } as const;
  return { ...schema, properties: { ...envelope, ...schema.properties } };
}
