import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { json, text } from 'node:stream/consumers';
import type { DaemonName } from './node.ts';
import type { RealCluster } from './real-cluster.ts';

/** What other processes may ask of the process that owns the cluster. */
export type Act =
  | { readonly do: 'pid' | 'crash' | 'boot'; readonly node: string }
  | { readonly do: 'restart'; readonly node: string; readonly daemon: DaemonName }
  | { readonly do: 'restart-api-server' }
  | { readonly do: 'control-pid' };

/** Answers when the act is done, with what it returned. */
export async function serveActs(cluster: RealCluster, socket: string): Promise<AsyncDisposable> {
  const server = createServer((incoming, outgoing) => {
    json(incoming)
      .then((act) => perform(cluster, act as Act))
      .then(
        (result) => outgoing.end(JSON.stringify(result ?? null)),
        (thrown) => outgoing.writeHead(500).end(String(thrown)),
      );
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

export async function ask(socketPath: string, act: Act): Promise<unknown> {
  const outgoing = request({ socketPath, method: 'POST', path: '/' });
  outgoing.end(JSON.stringify(act));
  const [incoming] = await once(outgoing, 'response');
  const answer = await text(incoming);
  if (incoming.statusCode !== 200) throw new Error(`${JSON.stringify(act)}: ${answer}`);
  return JSON.parse(answer);
}

async function perform(cluster: RealCluster, act: Act): Promise<unknown> {
  if (act.do === 'restart-api-server') return await cluster.control.restartApiServer();
  if (act.do === 'control-pid') return cluster.control.machine.pid;
  const node = cluster.nodes.find(({ plan }) => plan.name === act.node);
  if (node === undefined) throw new Error(`no node ${act.node}`);
  switch (act.do) {
    case 'pid':
      return node.pid();
    case 'crash':
      return await node.crash();
    case 'boot':
      return await node.boot();
    case 'restart':
      return await node.restart(act.daemon);
  }
}
