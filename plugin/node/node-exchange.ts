import { connect } from 'node:net';
import type { Exchange } from '#plugin/plugin-io.ts';

const ABSENT = { ENOENT: 'missing', ECONNREFUSED: 'refused', EAGAIN: 'busy' } as const;

export function exchangeOverSocket(
  path: string,
  request: Uint8Array,
  limitBytes: number,
  timeoutMs: number,
  lengthOf: (firstBytes: Uint8Array) => number | null,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const chunks: Uint8Array[] = [];
    let size = 0;
    let whole: number | undefined;
    let isConnected = false;
    const timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
    const finish = (ended: Exchange) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(ended);
    };
    const finishAtEnd = () =>
      finish(size === 0 ? { kind: 'dropped' } : { kind: 'answer', bytes: Buffer.concat(chunks) });
    socket.on('connect', () => {
      isConnected = true;
      socket.write(request);
    });
    socket.on('data', (chunk) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > limitBytes) return finish({ kind: 'oversized' });
      whole ??= lengthOf(chunk) ?? Number.POSITIVE_INFINITY;
      if (size >= whole) finishAtEnd();
    });
    socket.on('end', finishAtEnd);
    socket.on('error', (error) => {
      if (isConnected) finishAtEnd();
      else finish(notConnected(error));
    });
  });
}

function notConnected(error: NodeJS.ErrnoException): Exchange {
  const why = Object.entries(ABSENT).find(([code]) => code === error.code)?.[1];
  return why === undefined ? { kind: 'failed', why: error.message } : { kind: 'absent', why };
}
