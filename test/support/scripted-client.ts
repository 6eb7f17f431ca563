import type { ClientOptions } from '#pkg/kube/client/caller.ts';
import { KubeClient } from '#pkg/kube/client/client.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Access } from '#pkg/kube/transport/connection.ts';
import { type Script, ScriptedServer } from './scripted-server.ts';

export const THINGS: Resource = { group: 'test.io', version: 'v1', plural: 'things', kind: 'Thing' };

export interface ScriptedPair extends AsyncDisposable {
  readonly server: ScriptedServer;
  readonly client: KubeClient;
}

/** For tests: a real client and its scripted server. */
export async function startScripted(
  script: Script,
  options: Partial<ClientOptions> = {},
  load: (server: ScriptedServer) => Access = (server) => server.access(),
): Promise<ScriptedPair> {
  const server = await ScriptedServer.start(script);
  const client = new KubeClient(async () => load(server), { userAgent: 'test', ...options });
  const stop = async () => {
    client[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  };
  return { server, client, [Symbol.asyncDispose]: stop };
}
