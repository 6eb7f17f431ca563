import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { JsonFields } from './untrusted-input.ts';

const MAX_INTERFACES = 1000;
const MAX_IPS = 256;
const MAX_ADDRESS = 64;
const MAX_NAME = 255;
const MAX_PATH = 4096;

export interface PrevAddress {
  readonly address: string;
  readonly gateway?: string;
}

/** The addresses that prevResult shows for this interface inside the sandbox, or for none in particular. */
export function decodePrevResult(conf: JsonFields, ifName: string): readonly PrevAddress[] {
  const prevResult = conf.optionalObject('prevResult');
  if (prevResult === undefined) throw new IpamError('bad-config', 'prevResult is missing in the network configuration');
  const interfaces = prevResult.optionalObjects('interfaces', MAX_INTERFACES) ?? [];
  return (prevResult.optionalObjects('ips', MAX_IPS) ?? [])
    .filter((ip) => {
      const link = linkOf(ip, interfaces);
      return link === null || isInSandbox(link, ifName);
    })
    .map(toAddress);
}

function linkOf(ip: JsonFields, interfaces: readonly JsonFields[]): JsonFields | null {
  const index = ip.optionalInteger('interface', -1, MAX_INTERFACES) ?? -1;
  if (index < 0) return null;
  return interfaces[index] ?? ip.refuse('interface', 'points at no item of prevResult.interfaces');
}

function isInSandbox(link: JsonFields, ifName: string): boolean {
  return link.optionalText('name', MAX_NAME) === ifName && (link.optionalText('sandbox', MAX_PATH) ?? '') !== '';
}

function toAddress(ip: JsonFields): PrevAddress {
  const address = ip.text('address', MAX_ADDRESS);
  const gateway = ip.optionalText('gateway', MAX_ADDRESS) ?? '';
  return gateway === '' ? { address } : { address, gateway };
}
