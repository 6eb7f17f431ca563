import { clip, isJsonObject, JsonFields, parseBoundedJson } from '#pkg/cni/untrusted-input.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isReason } from '#pkg/errors/reasons.ts';
import { decodeInterface } from './decode-args.ts';
import type { AddResponse, GcResponse, IpConfig, WireDns, WireRoute } from './wire.ts';

const MAX_IPS = 256;
/** The answer carries all interfaces of the pod, and each address may have 1,000 routes of its pool and a default route. */
const MAX_ROUTES = 10_000;
const MAX_DNS_ITEMS = 100;
const MAX_ADDRESS = 64;
const MAX_NAME = 253;
const MAX_VLAN = 4094;
const MAX_MESSAGE = 1024;
const MAX_DETAILS = 8 * 1024;

export function decodeAddResponse(body: unknown): AddResponse {
  const fields = JsonFields.of(body, 'the answer to ADD', 'bad-input');
  const routes = fields.optionalObjects('routes', MAX_ROUTES);
  const dns = fields.optionalObject('dns');
  return {
    ips: fields.objects('ips', MAX_IPS).map(decodeIp),
    ...(routes === undefined ? {} : { routes: routes.map(decodeRoute) }),
    ...(dns === undefined ? {} : { dns: decodeDns(dns) }),
  };
}

function decodeIp(fields: JsonFields): IpConfig {
  const gateway = fields.optionalText('gateway', MAX_ADDRESS) ?? '';
  const vlan = fields.optionalInteger('vlan', 0, MAX_VLAN);
  const mac = fields.optionalText('mac', MAX_ADDRESS);
  const enableGatewayDetection = fields.optionalFlag('enableGatewayDetection');
  const enableIPConflictDetection = fields.optionalFlag('enableIPConflictDetection');
  return {
    version: decodeFamily(fields),
    address: decodeAddress(fields, 'address'),
    nic: decodeInterface(fields, 'nic'),
    ipPool: fields.optionalText('ipPool', MAX_NAME) ?? '',
    ...(gateway === '' ? {} : { gateway }),
    ...(vlan === undefined ? {} : { vlan }),
    ...(mac === undefined ? {} : { mac }),
    ...(enableGatewayDetection === undefined ? {} : { enableGatewayDetection }),
    ...(enableIPConflictDetection === undefined ? {} : { enableIPConflictDetection }),
  };
}

function decodeAddress(fields: JsonFields, key: string): string {
  return fields.text(key, MAX_ADDRESS) || fields.refuse(key, 'is missing');
}

function decodeFamily(fields: JsonFields): 4 | 6 {
  const version = fields.raw('version');
  return version === 4 || version === 6 ? version : fields.refuse('version', 'must be 4 or 6');
}

function decodeRoute(fields: JsonFields): WireRoute {
  return {
    ifName: decodeInterface(fields, 'ifName'),
    dst: decodeAddress(fields, 'dst'),
    gw: fields.optionalText('gw', MAX_ADDRESS) ?? '',
  };
}

function decodeDns(fields: JsonFields): WireDns {
  const domain = fields.optionalText('domain', MAX_NAME);
  const nameservers = fields.optionalTexts('nameservers', MAX_DNS_ITEMS, MAX_NAME);
  const search = fields.optionalTexts('search', MAX_DNS_ITEMS, MAX_NAME);
  const options = fields.optionalTexts('options', MAX_DNS_ITEMS, MAX_NAME);
  return {
    ...(domain === undefined ? {} : { domain }),
    ...(nameservers === undefined ? {} : { nameservers }),
    ...(search === undefined ? {} : { search }),
    ...(options === undefined ? {} : { options }),
  };
}

export function decodeGcResponse(body: unknown): GcResponse {
  const fields = JsonFields.of(body, 'the answer to GC', 'bad-input');
  const released = fields.optionalInteger('released', 0, Number.MAX_SAFE_INTEGER);
  return { released: released ?? fields.refuse('released', 'is missing') };
}

/** The error behind an answer that is no success: ours carries a reason, Spiderpool's agent says one JSON string. */
export function decodeError(status: number, text: string): IpamError {
  const body = parseLeniently(text);
  if (typeof body === 'string' && body !== '') return new IpamError('internal', clip(body, MAX_MESSAGE));
  const { reason, message, details } = isJsonObject(body)
    ? (body as { reason?: unknown; message?: unknown; details?: unknown })
    : {};
  return new IpamError(
    isReason(reason) ? reason : 'internal',
    typeof message === 'string' && message !== ''
      ? clip(message, MAX_MESSAGE)
      : `the agent answered with status ${status}`,
    { details: typeof details === 'string' ? clip(details, MAX_DETAILS) : '' },
  );
}

function parseLeniently(text: string): unknown {
  try {
    return parseBoundedJson(text, 'the answer', 'bad-input');
  } catch {
    return undefined;
  }
}
