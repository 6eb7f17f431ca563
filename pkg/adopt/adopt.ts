import type { KubeClient } from '#pkg/kube/client/client.ts';
import { createRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { type AdoptionMarker, readMarker, writeMarker } from './adoption-marker.ts';
import type { AdoptionPlan } from './plan-adoption.ts';

/** Another address manager, whose addresses get records. */
export interface AdoptionSource {
  /** The name of the ConfigMap that says that its addresses have their records. */
  readonly marker: string;
  /** Accounts that may still give out addresses. */
  findWriters(client: KubeClient): Promise<string[]>;
  /** What it gave out that has no record. */
  look(client: KubeClient): Promise<Look>;
  lookForLegacy(client: KubeClient, namespace: string): Promise<Legacy>;
}

export type Look = AdoptionPlan & { readonly unreadable: readonly string[] };

/** What a caller without the right to create access reviews can find out. */
export interface Legacy {
  readonly isAdopted: boolean;
  /** How many addresses the other one gave out that have no record. */
  readonly addresses: number;
  readonly unreadable: number;
  /** Its service accounts, whether or not they may still give out addresses. */
  readonly accounts: readonly string[];
}

export interface Adoption {
  /** `ready`: a dry run found no obstacle. `refused`: the operator has to remove an obstacle first. */
  readonly outcome: 'adopted' | 'already-adopted' | 'ready' | 'refused';
  readonly marker: AdoptionMarker | null;
  /** Records that were created, or that a run without dry run would create. */
  readonly records: readonly RecordSpec[];
  readonly collisions: readonly string[];
  readonly unreadable: readonly string[];
  /** The service accounts of the other address manager that may still give out addresses. */
  readonly writers: readonly string[];
}

export interface AdoptOptions {
  /** Where agents and controller run. */
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly marker: AdoptionMarker;
  readonly onProgress?: (made: number, all: number) => void;
}

const MOST_ROUNDS = 5;
const AT_ONCE = 16;
const PATIENCE_MS = 60_000;

/**
 * Takes over the addresses that another address manager gave out. First it must have lost the right to give out more. Then every
 * address gets its record, and a second look must find no address without one. Only then we begin. It can be repeated at any point.
 */
export async function adopt(client: KubeClient, source: AdoptionSource, options: AdoptOptions): Promise<Adoption> {
  const place = { namespace: options.namespace, name: source.marker };
  const before = await readMarker(client, place);
  // Checked before the look, which must see everything that they gave out until they lost the right.
  const writers = before === null ? await source.findWriters(client) : [];
  const first = await source.look(client);
  const found = { ...first, records: first.create, marker: null };
  if (before !== null) return toAdoption('already-adopted', { ...found, marker: before });
  if (first.unreadable.length + writers.length > 0) return toAdoption('refused', { ...found, writers });
  if (options.dryRun) return toAdoption('ready', found);
  const { made, left } = await makeRecords(client, source, first, options);
  if (left.create.length + left.unreadable.length > 0) {
    return toAdoption('refused', { ...left, records: left.create, marker: null });
  }
  const isOurs = await writeMarker(client, place, options.marker);
  const marker = isOurs ? options.marker : await readMarker(client, place);
  return toAdoption(isOurs ? 'adopted' : 'already-adopted', { ...left, records: made, marker });
}

/** Repeats until a look after the last write finds nothing missing. */
async function makeRecords(
  client: KubeClient,
  source: AdoptionSource,
  first: Look,
  { onProgress }: AdoptOptions,
): Promise<{ made: readonly RecordSpec[]; left: Look }> {
  const made: RecordSpec[] = [];
  let left = first;
  for (let round = 0; round < MOST_ROUNDS && left.create.length > 0; round += 1) {
    for (let at = 0; at < left.create.length; at += AT_ONCE) {
      const batch = left.create.slice(at, at + AT_ONCE);
      const deadlineMs = client.timing.nowMs() + PATIENCE_MS;
      await Promise.all(batch.map((spec) => createRecord(client, spec, { deadlineMs })));
      made.push(...batch);
      onProgress?.(made.length, Math.max(made.length, left.create.length));
    }
    left = await source.look(client);
  }
  return { made, left };
}

function toAdoption(outcome: Adoption['outcome'], found: Partial<Adoption> & Look): Adoption {
  const { marker = null, records = [], writers = [], collisions, unreadable } = found;
  return { outcome, marker, records, collisions, unreadable, writers };
}
