import { CLIENT_HEADER } from './wire.ts';

const CLIENT_VERSION = '1';

/** One HTTP/1.1 request that asks for the end of the connection. `path` must be plain ASCII. */
export function encodeRequest(method: 'GET' | 'POST' | 'DELETE', path: string, body: Uint8Array | null): Uint8Array {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: ipledger',
    'connection: close',
    `${CLIENT_HEADER}: ${CLIENT_VERSION}`,
  ];
  if (body !== null) lines.push('content-type: application/json', `content-length: ${body.length}`);
  const head = `${lines.join('\r\n')}\r\n\r\n`;
  const request = new Uint8Array(head.length + (body?.length ?? 0));
  for (let at = 0; at < head.length; at++) request[at] = head.charCodeAt(at);
  if (body !== null) request.set(body, head.length);
  return request;
}
