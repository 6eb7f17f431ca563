import { JsonFields } from '#pkg/cni/json-fields.ts';
import { decodeCallExtras } from './call-extras.ts';
import { decodeInterface, decodeNetns, decodeWireHolder } from './decode-holder.ts';
import type { AddArgs } from './wire.ts';

const MAX_POOLS = 1000;
const MAX_POOL_NAME = 253;
const MAX_REQUESTED = 256;
const MAX_ADDRESS = 64;

export function decodeAddArgs(body: unknown): AddArgs {
  const fields = JsonFields.of(body, 'the body of ADD', 'bad-input');
  const defaultIPv4IPPool = fields.optionalTexts('defaultIPv4IPPool', MAX_POOLS, MAX_POOL_NAME);
  const defaultIPv6IPPool = fields.optionalTexts('defaultIPv6IPPool', MAX_POOLS, MAX_POOL_NAME);
  const cleanGateway = fields.optionalFlag('cleanGateway');
  const matchMasterSubnet = fields.optionalFlag('matchMasterSubnet');
  const requestedIPs = fields.optionalTexts('requestedIPs', MAX_REQUESTED, MAX_ADDRESS);
  return {
    ...decodeWireHolder(fields),
    ifName: decodeInterface(fields, 'ifName'),
    netNamespace: decodeNetns(fields).netNamespace ?? fields.refuse('netNamespace', 'is missing'),
    ...(defaultIPv4IPPool === undefined ? {} : { defaultIPv4IPPool }),
    ...(defaultIPv6IPPool === undefined ? {} : { defaultIPv6IPPool }),
    ...(cleanGateway === undefined ? {} : { cleanGateway }),
    ...(matchMasterSubnet === undefined ? {} : { matchMasterSubnet }),
    ...(requestedIPs === undefined ? {} : { requestedIPs }),
    ...decodeCallExtras(fields),
  };
}
