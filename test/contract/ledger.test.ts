import { openSqliteLedger } from '#pkg/ledger/sqlite/sqlite-ledger.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { describeLedger } from './ledger-contract.ts';
import { makeTemporaryDirectory } from './temporary-directory.ts';

describeLedger('memory', async () => {
  const ledger = createMemoryLedger();
  return { ledger, [Symbol.asyncDispose]: () => ledger.close() };
});

describeLedger('sqlite', async () => {
  const directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  let ledger = await openSqliteLedger(file);
  return {
    get ledger() {
      return ledger;
    },
    async reopen() {
      await ledger.close();
      ledger = await openSqliteLedger(file);
    },
    async [Symbol.asyncDispose]() {
      await ledger.close();
      directory[Symbol.dispose]();
    },
  };
});
