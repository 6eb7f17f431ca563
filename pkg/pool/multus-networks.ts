import { quote } from '#pkg/ip/quote.ts';
import { AnnotationReader } from './annotation-reader.ts';

/** One item of a Multus annotation. */
export interface MultusNetwork {
  readonly namespace: string;
  readonly name: string;
  /** Empty when not given. */
  readonly interface: string;
}

const NAME = /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/;

/** A JSON list of objects, or `namespace/name@interface` items with commas between; Multus tells the two apart like this. */
export function parseMultusNetworks(key: string, text: string, defaultNamespace: string): readonly MultusNetwork[] {
  const reader = new AnnotationReader(key);
  const networks = /[[{"]/.test(text) ? readJson(reader, text) : readItems(reader, text);
  return networks.map((network, index) => {
    const namespace = network.namespace || defaultNamespace;
    for (const name of [namespace, network.name]) {
      if (!NAME.test(name)) throw reader.fault(`item ${index}: ${quote(name)} is not a name`);
    }
    return { ...network, namespace };
  });
}

function readJson(reader: AnnotationReader, text: string): readonly MultusNetwork[] {
  return reader.list(reader.json(text), 'the value').map((item, index) => {
    // Addresses, MAC and the rest of an item are for Multus; the reader's warnings about them are of no use.
    const fields = reader.object(item, `[${index}]`, ['name', 'namespace', 'interface']);
    const textOf = (field: 'name' | 'namespace' | 'interface') =>
      reader.text(fields.get(field), `[${index}].${field}`).trim();
    return { namespace: textOf('namespace'), name: textOf('name'), interface: textOf('interface') };
  });
}

function readItems(reader: AnnotationReader, text: string): readonly MultusNetwork[] {
  const items = reader.bounded(text).split(',');
  reader.list(items, 'the value');
  return items.map((item, index) => {
    const parts = /^(?:([^/@]*)\/)?([^/@]*)(?:@([^/@]*))?$/.exec(item);
    if (parts === null) throw reader.fault(`item ${index} is not of the form namespace/name@interface`);
    const partOf = (place: number, field: string) => reader.text(parts[place]?.trim(), `[${index}].${field}`);
    return { namespace: partOf(1, 'namespace'), name: partOf(2, 'name'), interface: partOf(3, 'interface') };
  });
}
