import { randomInt } from 'node:crypto';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';

/** Below the ephemeral range: no outgoing connection takes the port before its server starts, or while it restarts. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await canListen(port)) return port;
  }
}

/** Whether `pid` itself listens on the port, in its own network, and not a server that another run left. */
export async function isListening(pid: number, port: number): Promise<boolean> {
  const sockets = await socketsListening(pid, port);
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  return links.some((link) => sockets.has(link));
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function socketsListening(pid: number, port: number): Promise<Set<string>> {
  const LISTEN = '0A';
  // A program that listens on 0.0.0.0 may do so with an IPv6 socket.
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = tables.flatMap((table) => table.split('\n')).map((line) => line.trim().split(/\s+/));
  const matching = rows.filter(([, local, , state]) => local?.endsWith(wanted) && state === LISTEN);
  return new Set(matching.map((row) => `socket:[${row[9]}]`));
}
