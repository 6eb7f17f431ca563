import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from './api-ports.ts';

type Direction = 'requests' | 'answers';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Delays every byte by this time, in both directions. */
  delay(ms: number): void;
  /** Holds bytes in these directions (both by default) until `release`. With held answers a write is done without its writer knowing. */
  hold(...directions: Direction[]): void;
  release(): void;
  /** Resets every open connection; held and delayed bytes are lost. */
  cut(): void;
  /** New connections get ECONNREFUSED until `accept`; open ones stay. */
  refuse(): void;
  accept(): Promise<void>;
  openConnections(): number;
  /** Resolves when the next request, called after this, has gone to the server. */
  nextRequest(): Promise<void>;
}

/** Acknowledgements of an open connection are shorter than this, requests with a body are longer. */
const SHORTEST_REQUEST = 150;

/** A proxy on loopback in front of a server on loopback. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const port = await findFreePort();
  const pairs = new Set<readonly [Socket, Socket]>();
  const holds = new Map<Direction, PromiseWithResolvers<void>>();
  let delayMs = 0;
  let requestBytes = 0;

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const target = connect({ host: '127.0.0.1', port: targetPort, allowHalfOpen: true, noDelay: true });
    const pair = [client, target] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {}); // `close` follows and ends the other side
      socket.on('close', () => {
        pairs.delete(pair);
        for (const side of pair) side.destroy();
      });
    }
    carry(client, target, 'requests');
    carry(target, client, 'answers');
  });

  function carry(from: Socket, to: Socket, direction: Direction): void {
    let sent = Promise.resolve();
    const inTurn = (deliver: () => void) => {
      const due = performance.now() + delayMs;
      sent = sent.then(async () => {
        const early = due - performance.now();
        if (early > 0) await sleep(early);
        while (holds.has(direction)) await holds.get(direction)?.promise;
        if (to.writable) deliver();
      });
    };
    from.on('data', (chunk: Buffer) =>
      inTurn(() => {
        to.write(chunk);
        if (direction === 'requests') requestBytes += chunk.length;
      }),
    );
    from.on('end', () => inTurn(() => void to.end()));
  }

  const release = () => {
    for (const held of holds.values()) held.resolve();
    holds.clear();
  };
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  const accept = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = () => void server.close();

  await accept();
  return {
    port,
    delay: (ms) => {
      delayMs = ms;
    },
    hold: (...directions) => {
      for (const direction of directions.length > 0 ? directions : (['requests', 'answers'] as const)) {
        if (!holds.has(direction)) holds.set(direction, Promise.withResolvers());
      }
    },
    release,
    cut,
    refuse,
    accept,
    openConnections: () => pairs.size,
    nextRequest: async () => {
      const before = requestBytes;
      while (requestBytes < before + SHORTEST_REQUEST) await sleep(5);
    },
    [Symbol.asyncDispose]: async () => {
      refuse();
      cut();
      release();
    },
  };
}
