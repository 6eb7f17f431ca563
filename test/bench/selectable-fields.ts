import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';
import { callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { waitUntilServed } from '#test/support/manifests.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { BareClient, recordAt } from './kube-subject.ts';
import { readCpuMs } from './process-cpu.ts';
import { type Line, ms, printTable } from './report.ts';
import { median, spread } from './statistics.ts';

/**
 * `node test/bench/selectable-fields.ts`: what `selectableFields` of the kind IPRecord cost the API server. Two servers side by
 * side, one without them: its CPU for a create without watchers, with watchers that choose by label, and with watchers that choose by
 * field; and for a list of one node's records.
 */
const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 6);
const CREATES = 1_000;
const IN_FLIGHT = 16;
const WATCHERS = 100;
const LISTS = 40;
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const LIMIT = 1.02;

interface Subject {
  readonly server: ApiServer;
  readonly client: BareClient;
}

await using stack = new AsyncDisposableStack();
const plain = await openSubject('without');
const fields = await openSubject('with');
let taken = 0;

const byLabel = (node: number) => `labelSelector=ipledger.io/node%3Dworker-${node}`;
const byField = (node: number) => `fieldSelector=spec.holder.node%3Dworker-${node}`;
const measured = await measureInBlocks(
  {
    plain: () => timeCreates(plain),
    fields: () => timeCreates(fields),
    plainLabel: () => timeWatched(plain, byLabel),
    fieldsLabel: () => timeWatched(fields, byLabel),
    fieldsField: () => timeWatched(fields, byField),
    listLabel: () => timeLists(fields, byLabel),
    listField: () => timeLists(fields, byField),
  },
  BLOCKS,
);
const { values } = measured;
type Name = keyof typeof values;
const line = (what: string, name: Name, base: Name): Line => {
  const own = values[name].map(([value = Number.NaN]) => value);
  const ratios = own.map((value, block) => value / (values[base][block]?.[0] ?? Number.NaN));
  const ratio = median(ratios);
  const against = `${ratio.toFixed(3)} × ${base} ± ${(spread(ratios) * 100).toFixed(0)} %`;
  return { what, value: ms(median(own)), against, limit: `at most ${LIMIT} ×`, isMet: ratio <= LIMIT };
};
printTable(`CPU of the API server, ${WATCHERS} watchers, ${taken} records in both (${noteNoise(measured)})`, [
  line('create, no watchers, without fields', 'plain', 'plain'),
  line('create, no watchers, with fields', 'fields', 'plain'),
  line('create, watchers by label, without fields', 'plainLabel', 'plainLabel'),
  line('create, watchers by label, with fields', 'fieldsLabel', 'plainLabel'),
  line('create, watchers by field', 'fieldsField', 'plainLabel'),
  line('list of a node by label', 'listLabel', 'listLabel'),
  line('list of a node by field', 'listField', 'listLabel'),
]);
await stack.disposeAsync();
process.exit();

async function openSubject(which: 'with' | 'without'): Promise<Subject> {
  const server = stack.use(await startApiServer());
  const file = new URL('../../deploy/crds/ipledger.io_iprecords.yaml', import.meta.url);
  const crd = parse(await readFile(file, 'utf8'));
  if (which === 'without') delete crd.spec.versions[0].selectableFields;
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const { status, body } = await callApi(server, { method: 'POST', path, token: server.adminToken, body: crd });
  if (status !== 201) throw new Error(JSON.stringify(body));
  await waitUntilServed(server, RECORDS);
  const client = stack.use(await BareClient.open(server, server.adminToken));
  return { server, client };
}

/** Milliseconds of CPU for each create. */
async function timeCreates({ server, client }: Subject): Promise<number[]> {
  const records = Array.from({ length: CREATES }, () => recordAt(taken++)).values();
  const before = readCpuMs(server.pid());
  const work = async () => {
    for (const record of records) await client.createRecord(record);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return [(readCpuMs(server.pid()) - before) / CREATES];
}

async function timeWatched(subject: Subject, selector: (node: number) => string): Promise<number[]> {
  await using watchers = new AsyncDisposableStack();
  const agent = watchers.adopt(new Agent({ keepAlive: true }), (it) => it.destroy());
  const ca = await readFile(subject.server.caFile);
  const opened = Array.from({ length: WATCHERS }, async (_, node) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const url = new URL(`${RECORDS}?watch=true&resourceVersion=0&${selector(node)}`, subject.server.url);
    const outgoing = request(url, { ca, agent, headers: { authorization: `Bearer ${subject.server.adminToken}` } });
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      // It ends with the agent.
      incoming.on('error', () => {});
      incoming.resume();
      if (incoming.statusCode === 200) resolve();
      else reject(new Error(`watch: ${incoming.statusCode}`));
    });
    outgoing.end();
    await promise;
    outgoing.on('error', () => {});
  });
  await Promise.all(opened);
  await untilQuiet(subject);
  return await timeCreates(subject);
}

/** The watchers get what is there already. */
async function untilQuiet({ server }: Subject): Promise<void> {
  for (let before = readCpuMs(server.pid()); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = readCpuMs(server.pid());
    if (now - before <= 100) return;
    before = now;
  }
}

async function timeLists({ server, client }: Subject, selector: (node: number) => string): Promise<number[]> {
  const before = readCpuMs(server.pid());
  for (let index = 0; index < LISTS; index += 1)
    await client.send('GET', `${RECORDS}?${selector(index)}`, { accept: 'application/json' });
  return [(readCpuMs(server.pid()) - before) / LISTS];
}
