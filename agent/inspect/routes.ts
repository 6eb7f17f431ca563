import type { FastifyInstance } from 'fastify';
import { ADMIN_PATHS } from '#pkg/agentapi/admin.ts';
import { decodeAddArgs } from '#pkg/agentapi/decode-add-args.ts';
import { decodeReleaseArgs } from '#pkg/agentapi/decode-release-args.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Agent } from '../agent.ts';
import { parseBody } from '../request-body.ts';

type Query = { Querystring: Record<string, string | undefined> };

/** What `ipledgerctl` asks. */
export function serveInspection(server: FastifyInstance, agent: Agent): void {
  server.get(ADMIN_PATHS.pools, async () => await agent.inspector.pools());
  server.get<Query>(ADMIN_PATHS.records, async ({ query }) => {
    const { address, domain, pool, node, after, limit } = query;
    if (address !== undefined) return await agent.inspector.who(address, domain);
    return await agent.inspector.records({
      ...(pool === undefined ? {} : { pool }),
      ...(node === undefined ? {} : { node }),
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit: parseLimit(limit) }),
    });
  });
  server.post(ADMIN_PATHS.explain, async (request) => await agent.inspector.explain(decodeAddArgs(parseBody(request))));
  server.get(ADMIN_PATHS.check, async () => await agent.inspector.check());
  server.post(ADMIN_PATHS.release, async (request) => await agent.release(decodeReleaseArgs(parseBody(request))));
  server.get(ADMIN_PATHS.collect, async () => await agent.collect(true));
  server.post(ADMIN_PATHS.collect, async () => await agent.collect(false));
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new IpamError('bad-input', `limit must be a whole number from 1, not ${JSON.stringify(text.slice(0, 40))}`);
}
