import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { MULTUS_ANNOTATIONS } from './annotation-keys.ts';
import { AnnotationReader } from './annotation-reader.ts';
import type { Labels } from './request.ts';

/** What is known of the network behind an interface. `unknownBecause` is the reason for the requester why something is null. */
interface MultusSelection {
  /** `namespace/name` of the NetworkAttachmentDefinition. */
  readonly multusName: string | null;
  /** Position of the interface: eth0 = 0, then the order of the `networks` annotation. */
  readonly index: number | null;
  readonly unknownBecause: string | null;
  /** Annotations that cannot be read: harmless as long as no pool asks. */
  readonly warnings: readonly string[];
}

export interface MultusQuestion {
  readonly annotations: Labels;
  readonly interface: string;
  readonly podNamespace: string;
  readonly multusNamespace: string;
  /** MULTUS_CLUSTER_NETWORK: the network of eth0 where the pod does not choose one. */
  readonly clusterNetwork: string | null;
}

const FIRST_INTERFACE = 'eth0';

export function findMultusSelection(question: MultusQuestion): MultusSelection {
  return question.interface === FIRST_INTERFACE ? ofFirst(question) : ofAnother(question);
}

function ofFirst({ annotations, multusNamespace, clusterNetwork }: MultusQuestion): MultusSelection {
  const key = MULTUS_ANNOTATIONS.defaultNetwork;
  const chosen = annotations[key];
  if (chosen !== undefined && chosen !== '') {
    return orMalformed(0, () => {
      const networks = parseMultusNetworks(key, chosen, multusNamespace);
      const [network] = networks;
      return network !== undefined && networks.length === 1
        ? found(network, 0)
        : unknown(0, `annotation ${key} must name exactly one network, it names ${networks.length}`);
    });
  }
  if (clusterNetwork === null || clusterNetwork === '') {
    return unknown(0, `the pod has no annotation ${key} and MULTUS_CLUSTER_NETWORK is not set`);
  }
  const multusName = clusterNetwork.includes('/') ? clusterNetwork : `${multusNamespace}/${clusterNetwork}`;
  return { multusName, index: 0, unknownBecause: null, warnings: [] };
}

function ofAnother({ annotations, interface: nic, podNamespace }: MultusQuestion): MultusSelection {
  const key = MULTUS_ANNOTATIONS.networks;
  const text = annotations[key];
  if (text === undefined || text === '') return unknown(null, `the pod has no annotation ${key}`);
  return orMalformed(null, () => {
    const networks = parseMultusNetworks(key, text, podNamespace);
    // Multus names an interface that has no name by its position, whatever the others are called.
    const names = networks.map((network, position) => network.interface || `net${position + 1}`);
    const position = names.indexOf(nic);
    const network = networks[position];
    return network === undefined
      ? unknown(null, `annotation ${key} has no interface ${quote(nic)}, only ${listSome(names.map(quote), 10)}`)
      : found(network, position + 1);
  });
}

function found({ namespace, name }: MultusNetwork, index: number): MultusSelection {
  return { multusName: `${namespace}/${name}`, index, unknownBecause: null, warnings: [] };
}

function unknown(index: number | null, unknownBecause: string): MultusSelection {
  return { multusName: null, index, unknownBecause, warnings: [] };
}

function orMalformed(index: number | null, read: () => MultusSelection): MultusSelection {
  try {
    return read();
  } catch (thrown) {
    const { reason, message } = toIpamError(thrown);
    if (reason !== 'bad-annotation') throw thrown;
    return { ...unknown(index, message), warnings: [message] };
  }
}

/** One item of a Multus annotation. */
interface MultusNetwork {
  readonly namespace: string;
  readonly name: string;
  /** Empty when not given. */
  readonly interface: string;
}

const NAME = /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/;

/** A JSON list of objects, or `namespace/name@interface` items with commas between; Multus distinguishes the two like this. */
function parseMultusNetworks(key: string, text: string, defaultNamespace: string): readonly MultusNetwork[] {
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
