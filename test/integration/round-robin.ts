import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Forwards each new connection to the next port, as a Service does with its replicas. */
export async function startRoundRobin(ports: readonly number[]): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((incoming) => {
    const port = ports[connections++ % ports.length] ?? 0;
    const outgoing = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
