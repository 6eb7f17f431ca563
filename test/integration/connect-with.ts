import { readFile } from 'node:fs/promises';
import { KubeClient } from '#pkg/kube/client/client.ts';
import type { ServerPlace } from '#test/support/api-server.ts';

/** A client with the rights of a token and no others. */
export async function connectWith(server: ServerPlace, token: string): Promise<KubeClient> {
  const ca = await readFile(server.caFile);
  const headers = { authorization: `Bearer ${token}` };
  return new KubeClient(async () => ({ origin: server.url, pathPrefix: '', tls: { ca }, headers }), {
    userAgent: 'test',
  });
}
