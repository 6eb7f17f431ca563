import { KubeClient } from '#pkg/kube/client/client.ts';
import { accessFrom } from '#pkg/kube/client/kube-config.ts';
import type { NewObject } from '#pkg/kube/objects/kube-object.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { benchImport } from './kube-import.ts';
import { BareClient, installRecords, RECORDS, recordAt } from './kube-subject.ts';
import { type Line, ms, printTable } from './report.ts';
import { median, spread } from './statistics.ts';

const BLOCKS = 5;
const RECORDS_IN_TABLE = 10_000;

let taken = 0;

/** Rate and CPU of this process per create, compared with a bare client: same object, schema, token and body. */
async function benchCreates(ours: KubeClient, bare: BareClient): Promise<void> {
  const lines: Line[] = [];
  let noise = '';
  for (const [inFlight, count] of [
    [1, 300],
    [32, 1_000],
  ] as const) {
    const measured = await measureInBlocks(
      {
        bare: () => timeCreates(count, inFlight, (record) => bare.createRecord(record)),
        ours: () => timeCreates(count, inFlight, (record) => createOurs(ours, record)),
      },
      BLOCKS,
    );
    noise = noteNoise(measured);
    const column = (name: 'bare' | 'ours', at: number) => measured.values[name].map((block) => block[at] ?? Number.NaN);
    const ratios = (at: number) =>
      column('ours', at).map((value, block) => value / (column('bare', at)[block] ?? Number.NaN));
    const [rates, cpus] = [ratios(0), ratios(1)];
    lines.push(
      {
        what: `create, ${inFlight} in flight: rate`,
        value: `${median(column('ours', 0)).toFixed(0)}/s`,
        against: `${median(rates).toFixed(2)} × bare ± ${percent(spread(rates))}`,
        limit: 'at least 0.90 ×',
        isMet: median(rates) >= 0.9,
      },
      {
        what: `create, ${inFlight} in flight: CPU`,
        value: ms(median(column('ours', 1))),
        against: `${median(cpus).toFixed(2)} × bare ± ${percent(spread(cpus))}`,
        limit: 'at most 1.30 ×',
        isMet: median(cpus) <= 1.3,
      },
    );
  }
  printTable(`Create of an IPRecord on a real API server (${noise})`, lines);
}

async function createOurs(client: KubeClient, record: NewObject): Promise<void> {
  const created = await client.create(RECORDS, record);
  if (!created.ok) throw new Error(created.message);
}

/** Creates per second, and CPU milliseconds per create. */
async function timeCreates(
  count: number,
  inFlight: number,
  create: (record: NewObject) => Promise<void>,
): Promise<number[]> {
  const records = Array.from({ length: count }, () => recordAt(taken++)).values();
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  const work = async () => {
    for (const record of records) await create(record);
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const { user, system } = process.cpuUsage(cpu);
  return [count / ((performance.now() - startedMs) / 1_000), (user + system) / 1_000 / count];
}

async function benchTable(ours: KubeClient, bare: BareClient): Promise<void> {
  await timeCreates(RECORDS_IN_TABLE, 32, (record) => createOurs(ours, record));
  const measured = await measureInBlocks({ ours: async () => [await timeTable(ours)] }, BLOCKS);
  const times = measured.values.ours.flat();
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const path = '/apis/ipledger.io/v1alpha1/iprecords?includeObject=None';
  const plain = (await bare.send('GET', path, { accept })).length;
  const packed = (await bare.send('GET', path, { accept, 'accept-encoding': 'gzip' })).length;
  printTable(`Table of ${RECORDS_IN_TABLE} records (${noteNoise(measured)})`, [
    {
      what: 'time',
      value: `${ms(median(times))} ± ${percent(spread(times))}`,
      limit: 'under 300 ms',
      isMet: median(times) < 300,
    },
    {
      what: 'bytes on the wire',
      value: `${(packed / 1e6).toFixed(2)} MB`,
      against: `${(plain / 1e6).toFixed(2)} MB not compressed`,
      limit: 'under 1 MB',
      isMet: packed < 1e6,
    },
  ]);
}

async function timeTable(client: KubeClient): Promise<number> {
  const startedMs = performance.now();
  const listed = await client.listTable(RECORDS);
  if (!listed.ok || listed.object.rows.length !== RECORDS_IN_TABLE) throw new Error('the table is not complete');
  return performance.now() - startedMs;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

async function benchOn(server: ApiServer): Promise<void> {
  const load = accessFrom({ from: 'kubeconfig', file: server.kubeconfigFile });
  using ours = new KubeClient(load, { userAgent: 'bench' });
  using bare = await BareClient.open(server, server.adminToken);
  await installRecords(ours);
  await benchTable(ours, bare);
  await benchCreates(ours, bare);
}

await benchImport();
await using server = await startApiServer({ fsync: true });
await benchOn(server);
