import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { Journal } from './journal.ts';

/** Before an ADD is answered: what it is answered with is no longer anybody's leftover, whatever was abandoned under its name. */
export async function spareAnswered(records: readonly IpRecord[], journal: Journal): Promise<void> {
  for (const { name, uid } of records) {
    for (const entry of journal.ofRecord(name)) {
      if (entry.kind === 'release') await journal.remove(entry);
      else if (entry.spared !== uid) await journal.write({ ...entry, spared: uid });
    }
  }
}
