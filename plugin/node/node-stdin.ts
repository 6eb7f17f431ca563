import type { Readable } from 'node:stream';
import type { StdinOutcome } from '#plugin/plugin-io.ts';
import { decodeUtf8 } from './node-utf8.ts';

export function readNodeStdin(stream: Readable, limitBytes: number, timeoutMs: number): Promise<StdinOutcome> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const timer = setTimeout(() => finish({ kind: 'timeout' }), timeoutMs);
    const finish = (outcome: StdinOutcome) => {
      clearTimeout(timer);
      stream.destroy();
      resolve(outcome);
    };
    stream.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limitBytes) finish({ kind: 'oversized' });
      else chunks.push(chunk);
    });
    stream.on('end', () => finish(toText(chunks)));
    stream.on('error', (error) => finish({ kind: 'failed', why: error.message }));
  });
}

function toText(chunks: readonly Uint8Array[]): StdinOutcome {
  const text = decodeUtf8(Buffer.concat(chunks));
  return text === null ? { kind: 'not-utf8' } : { kind: 'text', text };
}
