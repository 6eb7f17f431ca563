import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { formatCidr, parseCidr } from '#pkg/ip/cidr.ts';
import { POD_ANNOTATIONS } from './annotation-keys.ts';
import { AnnotationReader, type Parsed } from './annotation-reader.ts';
import type { Route } from './pool.ts';

/** Routes in canonical text; a default route is allowed here. */
export function parseRoutes(text: string): Parsed<readonly Route[]> {
  const reader = new AnnotationReader(POD_ANNOTATIONS.routes);
  const value = reader.list(reader.json(text), 'the value').map((item, index) => readRoute(reader, item, `[${index}]`));
  return { value, warnings: reader.warnings };
}

function readRoute(reader: AnnotationReader, item: unknown, where: string): Route {
  const fields = reader.object(item, where, ['dst', 'gw']);
  const dst = readPart(reader, parseCidr, fields.get('dst'), `${where}.dst`);
  const gw = readPart(reader, parseAddress, fields.get('gw'), `${where}.gw`);
  if (dst.family !== gw.family) throw reader.fault(`${where} mixes IPv4 and IPv6`);
  return { dst: formatCidr(dst), gw: formatAddress(gw) };
}

function readPart<T>(reader: AnnotationReader, parse: (text: string) => T, value: unknown, where: string): T {
  const text = reader.text(value, where);
  try {
    return parse(text);
  } catch (thrown) {
    throw reader.fault(`${where}: ${toIpamError(thrown).message}`, thrown);
  }
}
