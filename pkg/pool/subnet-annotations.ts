import { quote } from '#pkg/ip/quote.ts';
import { POD_ANNOTATIONS } from './annotation-keys.ts';
import { AnnotationReader, type Parsed } from './annotation-reader.ts';

/** The SpiderSubnets one interface asks for; at least one family is named. */
export interface NicSubnets {
  readonly interface: string;
  readonly v4: string | null;
  readonly v6: string | null;
}

const FIRST_INTERFACE = 'eth0';
/** What Linux accepts as the name of an interface. It becomes a part of the pool's name. */
const INTERFACE_NAME = /^(?!\.{1,2}$)[!-.0-9;-~]{1,15}$/;

export function parseSubnet(text: string): Parsed<NicSubnets> {
  const reader = new AnnotationReader(POD_ANNOTATIONS.subnet);
  const value = readNicSubnets(reader, reader.json(text), 'the value', '');
  return { value: { ...value, interface: value.interface || FIRST_INTERFACE }, warnings: reader.warnings };
}

export function parseSubnets(text: string): Parsed<readonly NicSubnets[]> {
  const reader = new AnnotationReader(POD_ANNOTATIONS.subnets);
  const value = reader
    .list(reader.json(text), 'the value')
    .map((item, index) => readNicSubnets(reader, item, `[${index}]`, `[${index}].`));
  if (value.length === 0) throw reader.fault('the list is empty');
  if (value.some((item) => item.interface === '')) throw reader.fault('every item must name its interface');
  for (const field of ['interface', 'v4', 'v6'] as const) refuseTwice(reader, value, field);
  return { value, warnings: reader.warnings };
}

function readNicSubnets(reader: AnnotationReader, item: unknown, where: string, prefix: string): NicSubnets {
  const fields = reader.object(item, where, ['interface', 'ipv4', 'ipv6']);
  const v4 = readFirst(reader, fields.get('ipv4'), `${prefix}ipv4`);
  const v6 = readFirst(reader, fields.get('ipv6'), `${prefix}ipv6`);
  if (v4 === null && v6 === null) throw reader.fault(`${where} names no subnet`);
  return { interface: readInterface(reader, fields.get('interface'), `${prefix}interface`), v4, v6 };
}

/** Empty where none is written. */
function readInterface(reader: AnnotationReader, value: unknown, where: string): string {
  const text = reader.text(value, where);
  if (text === '' || INTERFACE_NAME.test(text)) return text;
  throw reader.fault(`${where} ${quote(text)} cannot be the name of an interface`);
}

function readFirst(reader: AnnotationReader, value: unknown, where: string): string | null {
  const [first, ...others] = reader.names(value, where);
  if (others.length > 0) reader.warn(`${where}: only the first subnet is used`);
  return first ?? null;
}

function refuseTwice(reader: AnnotationReader, items: readonly NicSubnets[], field: keyof NicSubnets): void {
  const seen = new Set<string>();
  for (const { [field]: name } of items) {
    if (name === null) continue;
    if (seen.has(name)) {
      throw reader.fault(
        field === 'interface' ? `duplicate interface ${quote(name)}` : `subnet ${quote(name)} is on two interfaces`,
      );
    }
    seen.add(name);
  }
}
