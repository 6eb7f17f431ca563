import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Access } from './access.ts';

/** On its way to be connected: TLS unless the address says plain HTTP. */
export function openSocket({ origin, tls }: Pick<Access, 'origin' | 'tls'>): Socket {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) });
  const named = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port: Number(port || 443), ALPNProtocols: ['h2'], ...named, ...tls });
}
