import { JsonFields } from '#pkg/cni/json-fields.ts';
import { decodeInterface } from './decode-holder.ts';
import type { AddResponse, IpConfig, WireDns, WireRoute } from './wire.ts';

const MAX_IPS = 256;
const MAX_ROUTES = 1000;
const MAX_DNS_ITEMS = 100;
const MAX_ADDRESS = 64;
const MAX_NAME = 253;
const MAX_VLAN = 4094;

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
