import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { ServerPlace } from '#test/support/api-server.ts';

export interface WatchedPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Calls back for every event, at the moment when it arrives: times in the objects are whole seconds. */
export async function watchPods(
  { url, caFile, adminToken }: ServerPlace,
  namespace: string,
  onPod: (pod: WatchedPod) => void,
): Promise<Disposable> {
  const outgoing = request(new URL(`/api/v1/namespaces/${namespace}/pods?watch=1`, url), {
    ca: await readFile(caFile),
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const opened = Promise.withResolvers<void>();
  outgoing.once('response', (incoming) => {
    const lines = createInterface({ input: incoming });
    lines.on('line', (line) => onPod(JSON.parse(line).object));
    // Otherwise the end of the watch would be an error that nobody handles; readline passes it on.
    lines.on('error', () => {});
    opened.resolve();
  });
  outgoing.on('error', opened.reject);
  outgoing.end();
  await opened.promise;
  return { [Symbol.dispose]: () => void outgoing.destroy() };
}
