import { connect, type Server } from 'node:net';

/** Runs in the network of the control plane: passes each connection of a socket that listens elsewhere to a port there. */
const port = Number(process.argv[2]);

process.once('message', (_: unknown, server: Server) => {
  server.on('connection', (outside) => {
    const inside = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    outside.setNoDelay(true);
    const end = () => {
      outside.destroy();
      inside.destroy();
    };
    outside.on('error', end);
    inside.on('error', end);
    outside.pipe(inside);
    inside.pipe(outside);
  });
  process.send?.('open');
});
process.send?.('ready');
