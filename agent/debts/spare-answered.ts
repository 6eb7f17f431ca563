import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { Journal } from './journal.ts';

/** To be called before an ADD is answered: afterwards no journal entry releases the records of the answer. */
export async function spareAnswered(records: readonly IpRecord[], journal: Journal): Promise<void> {
  for (const { name, uid } of records) {
    for (const entry of journal.ofRecord(name)) {
      if (entry.kind === 'release') await journal.remove(entry);
      else if (entry.spared !== uid) await journal.write({ ...entry, spared: uid });
    }
  }
}
