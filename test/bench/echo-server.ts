import Fastify from 'fastify';

/** The baseline: an echo on a common framework, on the same kind of socket. */
const [path = ''] = process.argv.slice(2);
const server = Fastify();
server.removeAllContentTypeParsers();
server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
server.post('/v1/ipam/ip', async (request) => request.body);
server.get('/v1/ipam/status', async () => ({ ready: true }));
await server.listen({ path });
