import Fastify, { type FastifyInstance } from 'fastify';

/** Null: it is well. Otherwise what is not. */
export interface Health {
  startup(): string | null;
  readiness(): string | null;
}

/** Spiderpool's paths. Alive is who answers: a loop that is stuck does not. */
export function buildHealthServer(health: Health): FastifyInstance {
  const server = Fastify({ bodyLimit: 1_024, requestTimeout: 5_000, return503OnClosing: false });
  const answer = (path: string, ask: () => string | null) =>
    server.get(path, async (_request, reply) => {
      const problem = ask();
      return await reply.code(problem === null ? 200 : 500).send(problem ?? '');
    });
  answer('/v1/runtime/startup', () => health.startup());
  answer('/v1/runtime/readiness', () => health.readiness());
  answer('/v1/runtime/liveness', () => null);
  return server;
}
