import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { buildRecord } from '#test/support/build-record.ts';
import { type Reply, startFakeAgent } from '#test/support/fake-agent.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { runCtl } from './run-ctl.ts';

const ROOT = 'ipledger-support-20261118T202000Z';

async function run(file: string, answers: Record<string, Reply>) {
  await using agent = await startFakeAgent(({ path }) => answers[path.replace('/v1/ledger/', '')] ?? 'cut');
  const terminal = openMemoryTerminal({ nowMs: Date.parse('2026-11-18T20:20:00Z') });
  const code = await runCtl(['support', '--file', file], { socket: agent.socketPath }, terminal);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ipledger-support-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'support.tar.gz');
}

const read = (file: string, path: string) =>
  spawnSync('tar', ['-xzOf', file, `${ROOT}/${path}`], { encoding: 'utf8' }).stdout;

test('what the agent of a host knows is in one archive, and what it does not answer is named', async () => {
  const file = newFile();
  const record = buildRecord({ address: '10.0.0.5' });
  const { code, stdout, stderr } = await run(file, {
    pools: { body: { pools: [], problems: [] } },
    records: { body: { records: [record] } },
    check: { status: 500, body: { reason: 'internal', message: 'it failed' } },
    collect: { body: { dryRun: true, freed: [], kept: [] } },
  });
  expect([code, stdout]).toEqual([0, `${file}: 3 files, 1 could not be read.\n`]);
  expect(stderr).toContain('not read: ledger/findings.json: it failed\n');
  expect(JSON.parse(read(file, 'ledger/records.json'))).toEqual([record]);
  expect(read(file, 'missing.txt')).toBe('ledger/findings.json: it failed\n');
  expect(read(file, 'README.txt')).toContain('It has no Secret');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('where nothing can be read the exit code says so', async () => {
  const { code, stdout } = await run(newFile(), {});
  expect([code, stdout]).toEqual([1, expect.stringContaining('0 files, 4 could not be read') as string]);
});

test('a file that is there already is not overwritten', async () => {
  const file = newFile();
  writeFileSync(file, 'mine');
  const { code, stderr } = await run(file, { pools: { body: { pools: [], problems: [] } } });
  expect(code).toBe(2);
  expect(stderr).toContain('it exists already; choose another name with --file');
});
