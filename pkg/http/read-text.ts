import type { IncomingMessage } from 'node:http';

/**
 * What was sent, as text. Null if it is longer than allowed: the rest is let go by, not kept, so that the sender is there
 * to read the refusal; the server's requestTimeout ends it. Rejects if the sender goes away.
 */
export function readText(incoming: IncomingMessage, mostBytes: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
      else chunks.length = 0;
    });
    incoming.once('end', () => resolve(size <= mostBytes ? toText(chunks) : null));
    incoming.once('error', reject);
    incoming.once('close', () => {
      if (!incoming.readableEnded) reject(new Error('the sender went away before the end of its body'));
    });
  });
}

function toText(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first.toString('utf8') : Buffer.concat(chunks).toString('utf8');
}
