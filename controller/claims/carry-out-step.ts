import type { ClaimStatus } from '#controller/claim-plan/claim-status.ts';
import type { ClaimStep } from '#controller/claim-plan/claim-step.ts';
import { draftIpAddress } from '#controller/claim-plan/draft-ip-address.ts';
import type { ObservedClaim } from '#controller/claim-plan/observed-claim.ts';
import type { AbandonedCreates } from '#controller/give/abandoned-creates.ts';
import { findLanding } from '#controller/give/find-landing.ts';
import { findLateRecords } from '#controller/give/find-late-records.ts';
import { type Ending, NOT_LEADER_MS, SOON_MS, takeLowest } from '#controller/give/take-address.ts';
import type { FreshReads } from '#controller/reconcile/fresh-reads.ts';
import { FailedRequest, type Pass } from '#controller/reconcile/reconciler.ts';
import { draftClaimRecord, isRecordOfClaim } from '#pkg/capi/claim-record.ts';
import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { isPausedCluster } from '#pkg/capi/read-cluster.ts';
import type { Address } from '#pkg/ip/address.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { apiVersionOf, isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toCooling } from '#pkg/record/released-spec.ts';
import type { ClaimSources } from './claim-observer.ts';
import { readAgain } from './read-again.ts';

export interface StepDeps extends ClaimSources {
  readonly client: KubeClient;
  readonly ledger: Pick<Ledger, 'create' | 'amend' | 'release' | 'get'>;
  readonly events: Events;
  readonly isLeader: () => boolean;
  readonly clusterReads: FreshReads;
  readonly abandoned: AbandonedCreates;
}

export type WriteStep = Exclude<ClaimStep, { do: 'rest' }>;

/** Carries out one step. What it wrote is in the sources when it returns. */
export async function carryOutStep(
  step: WriteStep,
  seen: ObservedClaim,
  deps: StepDeps,
  { write }: Pass,
): Promise<Ending> {
  const { client, claims, addresses } = deps;
  const { claim, address } = seen;
  const at = { namespace: claim.namespace, name: claim.name };
  const put = async (what: string, kind: Resource, send: () => Promise<Outcome<KubeObject>>): Promise<Ending> => {
    const into = kind === CLAIMS ? claims : addresses;
    let isRefused = false;
    const written = await write(`${what} ${keyOf(claim)}`, async () => {
      const outcome = await send();
      isRefused = !outcome.ok && outcome.because === 'Conflict';
      return outcome;
    });
    // Another client has written it. If the watch is late, each try would be refused until it is not.
    if (isRefused) await readAgain(kind, at, into, client);
    if (!('object' in written)) return written.requeueMs ?? 'stop';
    into.wrote(written.object);
    return 'again';
  };
  const patchClaim = (finalizers: readonly string[]) =>
    put('the finalizer of claim', CLAIMS, () =>
      client.patch(CLAIMS, at, { metadata: { ...seenMetadata(claim), finalizers } }),
    );
  const patchAddress = (metadata: Readonly<Record<string, unknown>>) =>
    put('IPAddress', IP_ADDRESSES, () =>
      client.patch(IP_ADDRESSES, at, { metadata: { ...seenMetadata(address ?? claim), ...metadata } }),
    );

  switch (step.do) {
    case 'add-finalizer':
      deps.book.protects(claim);
      return patchClaim([...claim.finalizers, CLAIM_FINALIZER]);
    case 'take':
      return takeAddress(seen, deps);
    case 'name-record':
      return nameRecord(step.record, claim, deps);
    case 'create-address': {
      const poolUid = seen.pool?.pool?.uid ?? step.record.spec.pool.uid;
      return put('IPAddress', IP_ADDRESSES, () => createOrRead(client, draftIpAddress(claim, step.record, poolUid)));
    }
    case 'adopt-address':
      return patchAddress(step.metadata);
    case 'write-status': {
      const { status } = step;
      const metadata = seenMetadata(claim);
      const ending = await put('the status of claim', CLAIMS, () =>
        client.patch(CLAIMS, at, { metadata, status }, { subresource: 'status' }),
      );
      if (ending === 'again') emitChange(claim, status, deps.events);
      return ending;
    }
    case 'release':
      return giveBack(step, seen, deps);
    case 'unprotect-address': {
      const left = (address?.finalizers ?? []).filter((it) => it !== ADDRESS_FINALIZER);
      return patchAddress({ finalizers: left });
    }
    case 'delete-address':
      return deleteAddress(seen, deps);
    case 'remove-finalizer':
      return (await findLeftovers(claim, deps)) ?? patchClaim(claim.finalizers.filter((it) => it !== CLAIM_FINALIZER));
  }
}

/** What was made for the claim, or may still be, and no watch has shown. Null: nothing. */
async function findLeftovers(claim: Claim, deps: StepDeps): Promise<Ending | null> {
  const { client, addresses } = deps;
  const isOwn = (record: IpRecord) => isRecordOfClaim(record, claim);
  if (await findLateRecords(isOwn, deps)) return 'again';
  if (addresses.isUnconfirmed(claim)) {
    await readAgain(IP_ADDRESSES, claim, addresses, client);
    return 'again';
  }
  return findLanding(claim.uid, isOwn, deps);
}

/** The preconditions of a patch. */
function seenMetadata({ uid, resourceVersion }: { readonly uid: string; readonly resourceVersion: string }) {
  return { uid, resourceVersion };
}

/** The IPAddress decides between two leaders: the one that finds the name taken reads what is there, and the next step follows from that. */
async function createOrRead(
  client: KubeClient,
  draft: ReturnType<typeof draftIpAddress>,
): Promise<Outcome<KubeObject>> {
  const outcome = await client.create(IP_ADDRESSES, draft);
  if (outcome.ok || outcome.because !== 'AlreadyExists') return outcome;
  const found = await client.get(IP_ADDRESSES, draft.metadata);
  // It was there a moment ago: the name is free again.
  return !found.ok && found.because === 'NotFound' ? { ...outcome, because: 'Conflict' } : found;
}

async function takeAddress({ claim, pool: facts }: ObservedClaim, deps: StepDeps): Promise<Ending> {
  const pool = facts?.pool ?? null;
  if (facts === null || pool === null) return 'again';
  const taker = {
    draft: (address: Address) => draftClaimRecord(pool, address, claim),
    isOwn: (record: IpRecord) => isRecordOfClaim(record, claim),
    onAbandoned: (name: string) => deps.abandoned.add(claim.uid, name),
  };
  return takeLowest(facts, taker, deps);
}

/**
 * Reads the claim before something new is made for it, unless this pass has written to it. The watch of another leader, or of one that
 * lost its lease, may be late: the claim may be gone, and what is made for it would never be given back.
 */
export function confirmClaim({ claim }: ObservedClaim, { client, claims }: StepDeps): Promise<void> {
  return readAgain(CLAIMS, claim, claims, client);
}

async function nameRecord(
  record: Extract<WriteStep, { do: 'name-record' }>['record'],
  { uid }: Claim,
  { ledger, records, isLeader }: StepDeps,
): Promise<Ending> {
  if (!isLeader()) return NOT_LEADER_MS;
  const outcome = await ledger.amend(record, { ...record.spec, holder: { ...record.spec.holder, uid } });
  if (!outcome.done) return readRecordAgain(record, { ledger, records });
  records.wrote(outcome.record);
  return 'again';
}

/** It is not the one that was seen, and the watch of records may be late. */
async function readRecordAgain(seen: IpRecord, { ledger, records }: Pick<StepDeps, 'ledger' | 'records'>) {
  const now = await ledger.get(seen.name);
  if (now === null) records.released(seen);
  else records.wrote(now);
  return SOON_MS;
}

async function giveBack(
  { record, cooldownSeconds }: Extract<WriteStep, { do: 'release' }>,
  { claim }: ObservedClaim,
  deps: StepDeps,
): Promise<Ending> {
  const { ledger, records, isLeader, now } = deps;
  if (claim.isDeleting && (await isPausedNow(claim, deps))) return 'stop';
  if (!isLeader()) return NOT_LEADER_MS;
  const until = new Date(now().getTime() + cooldownSeconds * 1_000);
  const outcome =
    cooldownSeconds === 0 ? await ledger.release(record) : await ledger.amend(record, toCooling(record.spec, until));
  if (!outcome.done && outcome.because === 'changed') return readRecordAgain(record, deps);
  records.released(record);
  return 'again';
}

/** The watch of clusters may lag behind that of claims. The read is shared by the claims whose deletion was seen before it. */
async function isPausedNow(claim: Claim, { client, clusterReads, book }: StepDeps): Promise<boolean> {
  if (claim.cluster === null) return false;
  const at = { namespace: claim.namespace, name: claim.cluster };
  const read = () => client.get(CLUSTERS, at);
  const found = await clusterReads.read(keyOf(at), book.deletedSinceMs(keyOf(claim)), read);
  if (found.ok) return isPausedCluster(found.object);
  if (found.because === 'NotFound') return false;
  throw new FailedRequest(`cluster ${keyOf(at)}`, found);
}

async function deleteAddress({ address }: ObservedClaim, deps: StepDeps): Promise<Ending> {
  const { client, addresses, isLeader } = deps;
  if (address === null) return 'again';
  if (!isLeader()) return NOT_LEADER_MS;
  const { namespace, name, uid, resourceVersion } = address;
  const outcome = await client.delete(IP_ADDRESSES, { namespace, name, uid, resourceVersion });
  if (outcome.ok && outcome.object !== null) addresses.wrote(outcome.object);
  else if (outcome.ok || outcome.because === 'NotFound') addresses.deleted(address);
  else if (outcome.because === 'Conflict') await readAgain(IP_ADDRESSES, address, addresses, client);
  else throw new FailedRequest(`IPAddress ${keyOf(address)}`, outcome);
  return !outcome.ok && outcome.because === 'Conflict' ? SOON_MS : 'again';
}

/** Success is said by the condition alone: an Event would be one more write for each claim. */
function emitChange({ namespace, name, uid }: Claim, { conditions }: ClaimStatus, events: Events): void {
  const ready = conditions.filter(isMap).find(({ type }) => type === 'Ready');
  if (ready?.['status'] !== 'False') return;
  const regarding = { apiVersion: apiVersionOf(CLAIMS), kind: CLAIMS.kind, namespace, name, uid };
  events.emit({ regarding, type: 'Warning', reason: String(ready['reason']), note: String(ready['message']) });
}
