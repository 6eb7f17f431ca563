import type { ListenOptions, Server } from 'node:net';

/** Resolves when the server accepts connections; rejects when it cannot, for example because another process has the port. */
export async function listen(server: Server, at: ListenOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(at, resolve);
  await promise;
  server.off('error', reject);
  // accept(2) fails when the process is out of file descriptors. Without a listener that 'error' would end the process.
  server.on('error', () => {});
}
