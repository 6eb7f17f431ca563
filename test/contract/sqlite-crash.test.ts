import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openSqliteLedger } from '#pkg/ledger/sqlite/sqlite-ledger.ts';
import { makeTemporaryDirectory } from './temporary-directory.ts';

const CHILD = fileURLToPath(import.meta.resolve('./sqlite-crash-child.ts'));
const ROUNDS = 24;
const LONGEST_LIFE_MS = 60;

test('after kill -9 at any moment the ledger has every acknowledged record, and no other', {
  timeout: 180_000,
}, async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  const known = new Map<string, string>();
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    // Some are killed while they open the file, most while they write.
    const lifeMs = Math.random() * LONGEST_LIFE_MS;
    const lines = await runAndKill(file, lifeMs, round % 6 !== 5);
    const unanswered = replay(lines, known);
    acknowledged += lines.filter((line) => line.startsWith('is ') || line.startsWith('no ')).length;

    await using ledger = await openSqliteLedger(file);
    const found = new Map((await ledger.list({ limit: 1000 })).map((record) => [record.name, record.resourceVersion]));
    for (const name of unanswered) {
      const version = found.get(name);
      if (version === undefined) known.delete(name);
      else known.set(name, version);
    }
    expect(byName(found), `round ${round}, killed after ${lifeMs} ms`).toEqual(byName(known));
  }
  expect(acknowledged).toBeGreaterThan(ROUNDS * 10);
});

async function runAndKill(file: string, lifeMs: number, waitForOpen: boolean): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const closed = once(child, 'close');
  await (waitForOpen ? Promise.race([once(child.stdout, 'data'), closed]) : sleep(Math.random() * 150));
  await sleep(lifeMs);
  child.kill('SIGKILL');
  const [, signal] = await closed;
  expect({ signal, complaints }).toEqual({ signal: 'SIGKILL', complaints: '' });
  return output.slice(0, output.lastIndexOf('\n') + 1).split('\n');
}

/** Updates `known` with the last answers; returns the names whose last write was not answered. */
function replay(lines: string[], known: Map<string, string>): Set<string> {
  const unanswered = new Set<string>();
  for (const line of lines) {
    const [verb, name = '', version = ''] = line.split(' ');
    if (verb === 'try') unanswered.add(name);
    else unanswered.delete(name);
    if (verb === 'is') known.set(name, version);
    if (verb === 'no') known.delete(name);
  }
  return unanswered;
}

function byName(versions: Map<string, string>): [string, string][] {
  return [...versions].sort(([a], [b]) => (a < b ? -1 : 1));
}
