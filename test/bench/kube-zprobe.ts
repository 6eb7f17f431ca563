import { fork } from 'node:child_process';
import { connect } from 'node:http2';
import { KubeClient } from '#pkg/kube/client.ts';
import { RECORDS, recordAt } from './kube-subject.ts';
if (process.argv[2] === 'serve') {
  const { createServer } = await import('node:http2');
  const s = createServer();
  s.on('stream', (st) => { const c: Buffer[] = []; st.on('data', (x) => c.push(x)); st.on('end', () => { const o = JSON.parse(Buffer.concat(c).toString()); o.metadata.uid = 'u'; o.metadata.resourceVersion = '1'; o.metadata.managedFields = [{ a: 'x'.repeat(600) }]; st.respond({ ':status': 201, 'content-type': 'application/json', 'audit-id': 'x', 'cache-control': 'no-cache' }); st.end(JSON.stringify(o)); }); });
  s.listen(0, '127.0.0.1', () => process.send?.((s.address() as { port: number }).port));
} else {
  const child = fork(import.meta.filename, ['serve']);
  const port = await new Promise<number>((r) => child.once('message', (p) => r(p as number)));
  const origin = `http://127.0.0.1:${port}`;
  const session = connect(origin);
  const headers = { accept: 'application/json', 'content-type': 'application/json', authorization: 'Bearer xxxxxxxxxxxxxxxxxxxx' };
  const bare = (r: object) => new Promise<void>((resolve, reject) => {
    const st = session.request({ ':method': 'POST', ':path': '/apis/ipledger.io/v1alpha1/iprecords', ...headers });
    const c: Buffer[] = []; st.on('data', (x) => c.push(x)); st.on('error', reject);
    st.on('end', () => { JSON.parse(Buffer.concat(c).toString()).kind === 'IPRecord' ? resolve() : reject(); });
    st.end(JSON.stringify({ ...r, apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord' }));
  });
  const client = new KubeClient(async () => ({ origin, pathPrefix: '', tls: {}, headers: { authorization: 'Bearer xxxxxxxxxxxxxxxxxxxx' } }), { userAgent: 'bench' });
  const ours = async (r: ReturnType<typeof recordAt>) => { const o = await client.create(RECORDS, r); if (!o.ok) throw new Error(o.message); };
  const run = async (f: (r: ReturnType<typeof recordAt>) => Promise<void>, n: number, w: number) => {
    const it = Array.from({ length: n }, (_, i) => recordAt(i)).values(); const c = process.cpuUsage();
    await Promise.all(Array.from({ length: w }, async () => { for (const r of it) await f(r); }));
    const u = process.cpuUsage(c); return (u.user + u.system) / n;
  };
  for (const w of [1, 32]) { await run(bare, 3000, w); await run(ours, 3000, w);
    for (let i = 0; i < 4; i++) { const a = await run(bare, 4000, w), b = await run(ours, 4000, w); console.log(w, a.toFixed(0), b.toFixed(0), (b / a).toFixed(2)); } }
  child.kill(); session.destroy(); client[Symbol.dispose]();
}
