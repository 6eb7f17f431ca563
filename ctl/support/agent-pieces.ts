import type { AdminClient } from '#ctl/client/admin-client.ts';
import { readAllRecords } from '#ctl/client/read-all-records.ts';
import { type Piece, toJsonText } from './piece.ts';

/** What the agent of this host knows. */
export function agentPieces(client: AdminClient): Piece[] {
  const answer = (path: string, read: () => Promise<unknown>): Piece => ({
    path: `ledger/${path}.json`,
    read: async () => toJsonText(await read()),
  });
  return [
    answer('pools', () => client.pools()),
    answer('records', () => readAllRecords(client, {})),
    answer('findings', () => client.check()),
    answer('collection', () => client.collect({ dryRun: true })),
  ];
}
