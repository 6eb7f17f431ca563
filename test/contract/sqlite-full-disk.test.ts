import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { lockDataDirectory } from '#pkg/ledger/sqlite/agent-lock.ts';
import { openSqliteLedger } from '#pkg/ledger/sqlite/sqlite-ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { expectFailure, taken } from './ledger-resource.ts';
import { specOf } from './record-spec.ts';
import { mountTmpfs } from './tmpfs.ts';

test('a full disk is reported, leaves no partial write, and writes work when there is space again', async () => {
  using disk = mountTmpfs('512k');
  const file = `${disk.path}/ledger.db`;
  await using ledger = await openSqliteLedger(file);
  const records = [await taken(ledger, specOf('10.0.0.1'))];
  fillDisk(disk.path);
  records.push(...(await takeUntilFull(ledger, file)));

  expect(await ledger.list({ limit: 1000 })).toEqual(byName(records));
  const batch = await Promise.allSettled([
    ledger.create(specOf('10.9.0.1')),
    ledger.release(records[0] as IpRecord),
    ledger.create(specOf('10.9.0.2')),
  ]);
  expect(batch.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await ledger.list({ limit: 1000 })).toEqual(byName(records));

  rmSync(`${disk.path}/ballast`);
  records.push(await taken(ledger, specOf('10.9.0.1')));
  await ledger.close();
  await using again = await openSqliteLedger(file);
  expect(await again.list({ limit: 1000 })).toEqual(byName(records));
});

test('a ledger on a full disk can be closed, opened, locked and read, and loses nothing', async () => {
  using disk = mountTmpfs('512k');
  const file = `${disk.path}/ledger.db`;
  const ledger = await openSqliteLedger(file);
  const records = await takeUntilFull(ledger, file);
  await ledger.close();
  fillDisk(disk.path);

  using _lock = lockDataDirectory(disk.path);
  await using again = await openSqliteLedger(file);
  expect(await again.list({ limit: 1000 })).toEqual(byName(records));
  const failure = await expectFailure(again.create(specOf('10.9.0.1')), 'io-failure');
  expect(failure.message).toBe(fullMessage(file));

  disk.grow('4m');
  records.push(await taken(again, specOf('10.9.0.1')));
  expect(await again.list({ limit: 1000 })).toEqual(byName(records));
  await again.close();
  await using third = await openSqliteLedger(file);
  expect(await third.list({ limit: 1000 })).toEqual(byName(records));
  const versions = [...records, await taken(third, specOf('10.9.0.2'))].map((it) => Number(it.resourceVersion));
  expect(new Set(versions).size).toBe(versions.length);
});

test('a new ledger on a full disk is refused with the same message', async () => {
  using disk = mountTmpfs('64k');
  fillDisk(disk.path);
  const file = `${disk.path}/ledger.db`;
  const failure = await expectFailure(openSqliteLedger(file), 'io-failure');
  expect(failure.message).toBe(fullMessage(file));
});

async function takeUntilFull(ledger: Ledger, file: string): Promise<IpRecord[]> {
  const records: IpRecord[] = [];
  for (let n = 0; n < 5000; n++) {
    try {
      records.push(await taken(ledger, specOf(`10.1.${n >> 8}.${n & 255}`)));
    } catch (thrown) {
      expect(thrown).toMatchObject({ reason: 'io-failure', message: fullMessage(file) });
      return records;
    }
  }
  throw new Error('the disk does not get full');
}

function fillDisk(path: string): void {
  const ballast = openSync(`${path}/ballast`, 'w');
  const page = Buffer.alloc(4096);
  try {
    while (writeSync(ballast, page) === page.length);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC')) throw thrown;
  } finally {
    closeSync(ballast);
  }
}

function fullMessage(file: string): string {
  return `the disk that holds ${file} is full: nothing was written; free some space and try again`;
}

function byName(records: IpRecord[]): IpRecord[] {
  return records.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
