import { ADMIN_PATHS } from '#pkg/agentapi/admin.ts';
import { decodeAddArgs, decodeReleaseArgs } from '#pkg/agentapi/decode-args.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Agent } from './agent.ts';
import { parseBody, type SocketServer } from './socket-server.ts';

/** What `ipledgerctl` asks. */
export function serveInspection(server: SocketServer, agent: Agent): void {
  server.on('GET', ADMIN_PATHS.pools, async () => await agent.inspector.pools());
  server.on('GET', ADMIN_PATHS.records, async ({ query }) => {
    const { address, domain, pool, node, after, limit }: Record<string, string | undefined> = Object.fromEntries(query);
    if (address !== undefined) return await agent.inspector.who(address, domain);
    return await agent.inspector.records({
      ...(pool === undefined ? {} : { pool }),
      ...(node === undefined ? {} : { node }),
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit: parseLimit(limit) }),
    });
  });
  server.on('POST', ADMIN_PATHS.explain, async ({ body }) => {
    return await agent.inspector.explain(decodeAddArgs(parseBody(body)));
  });
  server.on('GET', ADMIN_PATHS.check, async () => await agent.inspector.check());
  server.on('POST', ADMIN_PATHS.release, async ({ body }) => await agent.release(decodeReleaseArgs(parseBody(body))));
  server.on('GET', ADMIN_PATHS.collect, async () => await agent.collect(true));
  server.on('POST', ADMIN_PATHS.collect, async () => await agent.collect(false));
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new IpamError('bad-input', `limit must be a whole number from 1, not ${JSON.stringify(text.slice(0, 40))}`);
}
