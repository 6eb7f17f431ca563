import type { KubeClient } from '#pkg/kube/client/client.ts';
import { createRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { type AdoptionMarker, readMarker, writeMarker } from './adoption-marker.ts';
import { findOldAccounts, findOldWriters } from './old-writers.ts';
import type { AdoptionPlan } from './plan-adoption.ts';
import { planAdoption } from './plan-adoption.ts';
import { readWorld, type WorldOptions } from './read-world.ts';

export interface Adoption {
  /** `ready`: a dry run found nothing that stands in the way. `refused`: somebody has to do something first. */
  readonly outcome: 'adopted' | 'already-adopted' | 'ready' | 'refused';
  readonly marker: AdoptionMarker | null;
  /** Records made, or to be made by a run that is no dry run. */
  readonly records: readonly RecordSpec[];
  readonly collisions: readonly string[];
  readonly unreadable: readonly string[];
  /** Service accounts of Spiderpool that may still give out addresses. */
  readonly writers: readonly string[];
}

export interface AdoptOptions {
  readonly dryRun: boolean;
  readonly marker: AdoptionMarker;
  readonly onProgress?: (made: number, all: number) => void;
}

const MOST_ROUNDS = 5;
const AT_ONCE = 16;
const PATIENCE_MS = 60_000;

/**
 * Takes over what Spiderpool gave out: first nobody may give out more, then every address gets its record, then a second
 * look finds none without, and only then may agents begin. Can be repeated at any point.
 */
export async function adopt(client: KubeClient, options: AdoptOptions): Promise<Adoption> {
  const before = await readMarker(client);
  // Asked before the look: what they give out until they lose the right must be in it.
  const writers = before === null ? await findOldWriters(client) : [];
  const first = await look(client);
  const found = { ...first, records: first.create, marker: null };
  if (before !== null) return toAdoption('already-adopted', { ...found, marker: before });
  if (first.unreadable.length + writers.length > 0) return toAdoption('refused', { ...found, writers });
  if (options.dryRun) return toAdoption('ready', found);
  const { made, left } = await makeRecords(client, first, options);
  if (left.create.length + left.unreadable.length > 0) {
    return toAdoption('refused', { ...left, records: left.create, marker: null });
  }
  const isOurs = await writeMarker(client, options.marker);
  const marker = isOurs ? options.marker : await readMarker(client);
  return toAdoption(isOurs ? 'adopted' : 'already-adopted', { ...left, records: made, marker });
}

/** What somebody may know who is not to judge: asks for no right but to read. */
export interface Legacy {
  readonly isAdopted: boolean;
  /** Given out by Spiderpool, and without a record. */
  readonly addresses: number;
  readonly unreadable: number;
  /** Service accounts of Spiderpool. Whether they may still give out addresses is not asked. */
  readonly accounts: readonly string[];
}

export async function lookForLegacy(client: KubeClient): Promise<Legacy> {
  const marker = await readMarker(client);
  if (marker !== null) return { isAdopted: true, addresses: 0, unreadable: 0, accounts: [] };
  const accounts = await findOldAccounts(client);
  const { create, unreadable } = await look(client, { withPods: false });
  return { isAdopted: false, addresses: create.length, unreadable: unreadable.length, accounts };
}

type Look = AdoptionPlan & { readonly unreadable: readonly string[] };

async function look(client: KubeClient, options: WorldOptions = { withPods: true }): Promise<Look> {
  const { world, unreadable } = await readWorld(client, options);
  return { ...planAdoption(world), unreadable };
}

/** Until a look after the last write finds nothing missing. */
async function makeRecords(
  client: KubeClient,
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
    left = await look(client);
  }
  return { made, left };
}

function toAdoption(outcome: Adoption['outcome'], found: Partial<Adoption> & Look): Adoption {
  const { marker = null, records = [], writers = [], collisions, unreadable } = found;
  return { outcome, marker, records, collisions, unreadable, writers };
}
