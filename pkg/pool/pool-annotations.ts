import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { POD_ANNOTATIONS } from './annotation-keys.ts';
import { AnnotationReader, type Parsed } from './annotation-reader.ts';
import type { PoolRequest } from './request.ts';

export interface PoolNames {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

export interface NicPools extends PoolNames {
  readonly cleanGateway: boolean;
}

type Nic = Pick<PoolRequest, 'interface' | 'interfaceIndex' | 'multusUnknownBecause'>;

interface Item extends NicPools {
  /** Empty when not given. */
  readonly interface: string;
}

export function parseIppool(text: string): Parsed<PoolNames> {
  const reader = new AnnotationReader(POD_ANNOTATIONS.ippool);
  const fields = reader.object(reader.json(text), 'the value', ['ipv4', 'ipv6']);
  const value = { v4: reader.names(fields.get('ipv4'), 'ipv4'), v6: reader.names(fields.get('ipv6'), 'ipv6') };
  return { value, warnings: reader.warnings };
}

/** The item for the interface that asks; all items are checked. */
export function parseIppools(text: string, nic: Nic): Parsed<NicPools> {
  const reader = new AnnotationReader(POD_ANNOTATIONS.ippools);
  const items = reader.list(reader.json(text), 'the value').map((item, index) => readItem(reader, item, `[${index}]`));
  if (items.length === 0) throw reader.fault('the list is empty');
  const { v4, v6, cleanGateway } = isNamed(reader, items) ? byName(reader, items, nic) : byIndex(reader, items, nic);
  return { value: { v4, v6, cleanGateway }, warnings: reader.warnings };
}

function readItem(reader: AnnotationReader, item: unknown, where: string): Item {
  const fields = reader.object(item, where, ['interface', 'ipv4', 'ipv6', 'cleangateway']);
  return {
    interface: reader.text(fields.get('interface'), `${where}.interface`),
    v4: reader.names(fields.get('ipv4'), `${where}.ipv4`),
    v6: reader.names(fields.get('ipv6'), `${where}.ipv6`),
    cleanGateway: reader.flag(fields.get('cleangateway'), `${where}.cleangateway`),
  };
}

function isNamed(reader: AnnotationReader, items: readonly Item[]): boolean {
  const named = items.filter((item) => item.interface !== '').length;
  if (named !== 0 && named !== items.length) throw reader.fault('interface must be given in all items or in none');
  return named !== 0;
}

function byName(reader: AnnotationReader, items: readonly Item[], nic: { readonly interface: string }): Item {
  const byInterface = new Map<string, Item>();
  for (const item of items) {
    if (byInterface.has(item.interface)) throw reader.fault(`duplicate interface ${quote(item.interface)}`);
    byInterface.set(item.interface, item);
  }
  const found = byInterface.get(nic.interface);
  if (found === undefined) {
    const named = listSome([...byInterface.keys()].map(quote), 10);
    throw reader.fault(`interface ${quote(nic.interface)} is not among the named ones: ${named}`);
  }
  return found;
}

function byIndex(reader: AnnotationReader, items: readonly Item[], nic: Nic): Item {
  const nicText = `interface ${quote(nic.interface)}`;
  if (nic.interfaceIndex === null) {
    const because = nic.multusUnknownBecause ? `: ${nic.multusUnknownBecause}` : '';
    throw reader.fault(`the items name no interface and the position of ${nicText} is unknown${because}`);
  }
  const found = items[nic.interfaceIndex];
  if (found === undefined) {
    throw reader.fault(`there are ${items.length} items, none for ${nicText} at position ${nic.interfaceIndex} from 0`);
  }
  return found;
}
