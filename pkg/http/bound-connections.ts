import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

export interface ConnectionBounds {
  readonly most: number;
  /** From the start of a request until its answer has been read. */
  readonly requestMs: number;
}

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  isAnswering: boolean;
}

/**
 * Bounds the connections of a server that strangers can reach. When there are too many, one that is not being answered is closed:
 * the oldest of the peer that has the most. So clients that connect and say nothing cannot keep others out.
 */
export function boundConnections(server: HttpServer | HttpsServer, { most, requestMs }: ConnectionBounds): void {
  const open = new Map<string, Connection>();
  server.on('connection', (socket: Socket) => {
    const key = endpointOf(socket);
    open.set(key, { socket, peer: socket.remoteAddress ?? '', isAnswering: false });
    socket.once('close', () => open.delete(key));
    if (open.size > most) (findVictim(open.values()) ?? { socket }).socket.destroy();
  });
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // The socket of a TLS request is not the one that was accepted; the remote address and port are the same.
    const connection = open.get(endpointOf(incoming.socket));
    if (connection === undefined) return;
    connection.isAnswering = true;
    const timer = setTimeout(() => incoming.socket.destroy(), requestMs);
    outgoing.once('close', () => {
      clearTimeout(timer);
      connection.isAnswering = false;
    });
  });
}

function findVictim(open: Iterable<Connection>): Connection | undefined {
  const byPeer = Map.groupBy(open, ({ peer }) => peer);
  const largestFirst = [...byPeer.values()].sort((a, b) => b.length - a.length);
  return largestFirst.flat().find(({ isAnswering }) => !isAnswering);
}

function endpointOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
