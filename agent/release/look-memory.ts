import type { NetnsLook } from '#agent/node/netns-look.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

interface Seen {
  readonly lookSinceMs: number;
  readonly seenSinceMs: number;
}

interface Noted extends Seen {
  readonly version: string;
  readonly look: NetnsLook;
}

/** Since when a record is looked at, and since when each look had the same result. A changed record starts again. */
export class LookMemory {
  readonly #noted = new Map<string, Noted>();

  /** An ADD that is answered without a change of the record still writes it into the index: the times start again then too. */
  note(
    { uid, resourceVersion }: IpRecord,
    { look, writtenAtMs }: { readonly look: NetnsLook; readonly writtenAtMs: number | null },
    nowMs: number,
  ): Seen {
    const version = versionOf(resourceVersion, writtenAtMs);
    const known = this.#noted.get(uid);
    const before = known?.version === version ? known : null;
    const seenSinceMs = before?.seenSinceMs ?? nowMs;
    const lookSinceMs = before?.look === look ? before.lookSinceMs : nowMs;
    this.#noted.set(uid, { version, look, lookSinceMs, seenSinceMs });
    return { lookSinceMs, seenSinceMs };
  }

  /** This agent has changed the record and nothing that a look sees: the times go on. */
  goOn({ uid, resourceVersion }: IpRecord, writtenAtMs: number | null): void {
    const known = this.#noted.get(uid);
    if (known !== undefined) this.#noted.set(uid, { ...known, version: versionOf(resourceVersion, writtenAtMs) });
  }

  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of this.#noted.keys()) if (!uids.has(uid)) this.#noted.delete(uid);
  }
}

function versionOf(resourceVersion: string, writtenAtMs: number | null): string {
  return `${resourceVersion} ${writtenAtMs}`;
}
