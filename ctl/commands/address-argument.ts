import { isIP } from 'node:net';
import { IpamError } from '#pkg/errors/ipam-error.ts';

/** Checked before the agent is asked: a typing mistake should not look like a free address. */
export function parseAddressArgument(text: string): string {
  if (isIP(text) !== 0) return text;
  const [address = '', prefix] = text.split('/', 2);
  const hint = prefix !== undefined && isIP(address) !== 0 ? `; leave the prefix length away: ${address}` : '';
  throw new IpamError('bad-input', `"${text}" is not an IP address${hint}`);
}
