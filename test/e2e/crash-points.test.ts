import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FailpointName } from '#agent/calls/failpoint.ts';
import { openSqliteLedger } from '#pkg/ledger/sqlite/sqlite-ledger.ts';
import { endBy, startReady } from '#test/support/agent-life.ts';
import { addressesIn, callPlugin } from '#test/support/plugin-call.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';

const POOLS = [
  poolYaml('v4', { subnet: '10.22.0.0/24', ips: ['10.22.0.10-10.22.0.13'] }),
  poolYaml('v6', { subnet: 'fd00:22::/64', ips: ['fd00:22::10-fd00:22::13'] }),
].join('---\n');

/** One agent after the other on the same directories; `step` is the failpoint at which the next one is killed. */
async function makeHost() {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-crash-'));
  const at = (name: string) => join(directory, name);
  await mkdir(at('pools'));
  await writeFile(join(at('pools'), 'p.yaml'), POOLS);
  const log: string[] = [];
  let child: Awaited<ReturnType<typeof startReady>> | null = null;
  const main = join(import.meta.dirname, '../support/crashing-agent.ts');
  return {
    env: { IPLEDGER_SOCKET: at('agent.sock'), IPLEDGER_SPOOL: at('spool') },
    async start(step: FailpointName | 'never') {
      const flags = [
        '--pools',
        at('pools'),
        '--data',
        at('data'),
        '--socket',
        at('agent.sock'),
        '--spool',
        at('spool'),
      ];
      child = await startReady(process.execPath, [main, ...flags, '--step', step], at('agent.sock'), log);
    },
    async died() {
      if (child !== null && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      expect(child?.signalCode).toBe('SIGKILL');
    },
    async stop() {
      if (child !== null) await endBy(child, 'SIGTERM', log);
    },
    async addresses() {
      const ledger = await openSqliteLedger(join(at('data'), 'ledger.db'));
      const records = await ledger.list({ limit: 100 });
      await ledger.close();
      return records.map(({ spec }) => `${spec.holder.containerID} ${spec.address}/${spec.prefix}`);
    },
    async [Symbol.asyncDispose]() {
      if (child !== null) await endBy(child, 'SIGKILL', log);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const IN_ADD: readonly FailpointName[] = [
  'add-received',
  'address-chosen',
  'record-created',
  'spool-consumed',
  'answer-ready',
];

test.each(IN_ADD)(
  'killed in ADD at %s: the neighbour keeps its addresses, the retry gets one per family, nothing leaks',
  async (step) => {
    await using host = await makeHost();
    await host.start('never');
    const neighbour = addressesIn(await callPlugin(host, 'ADD', 'neighbour'));
    await host.stop();
    await host.start(step);
    const crashed = await callPlugin(host, 'ADD', 'c1');
    expect(crashed.document).toMatchObject({ code: 11, msg: expect.stringContaining('without') as string });
    await host.died();
    await host.start('never');
    const retried = addressesIn(await callPlugin(host, 'ADD', 'c1'));
    expect(retried).toHaveLength(2);
    await host.stop();
    const expected = [...retried.map((it) => `c1 ${it}`), ...neighbour.map((it) => `neighbour ${it}`)];
    expect((await host.addresses()).toSorted()).toEqual(expected.toSorted());
  },
);

const IN_DEL: readonly FailpointName[] = ['del-received', 'record-released'];

test.each(IN_DEL)(
  'killed in DEL at %s: the DEL is spooled and succeeds, after the restart nothing is left of it',
  async (step) => {
    await using host = await makeHost();
    await host.start(step);
    const neighbour = addressesIn(await callPlugin(host, 'ADD', 'neighbour'));
    await callPlugin(host, 'ADD', 'c1');
    expect(await callPlugin(host, 'DEL', 'c1')).toEqual({ code: 0, document: null });
    await host.died();
    await host.start('never');
    await host.stop();
    expect((await host.addresses()).toSorted()).toEqual(neighbour.map((it) => `neighbour ${it}`).toSorted());
  },
);

test('killed between applying a spooled DEL and removing it: applied again, without harm to the container that followed', async () => {
  await using host = await makeHost();
  await host.start('never');
  await callPlugin(host, 'ADD', 'c1');
  await host.stop();
  await callPlugin(host, 'DEL', 'c1');
  await expect(host.start('spool-entry-applied')).rejects.toThrow('SIGKILL');
  await host.start('never');
  const next = addressesIn(await callPlugin(host, 'ADD', 'c2'));
  await host.stop();
  expect((await host.addresses()).toSorted()).toEqual(next.map((it) => `c2 ${it}`).toSorted());
});
