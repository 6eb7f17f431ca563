import { planAddressRecord } from '#controller/claim-plan/address-record.ts';
import { describeUnaskedNumber } from '#controller/claim-plan/unasked-number.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { FreshObjects } from '#controller/give/fresh-objects.ts';
import type { FreshRecords } from '#controller/give/fresh-records.ts';
import { NOT_LEADER_MS } from '#controller/give/take-address.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { FailedRequest, type Pass, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { ADDRESS_FINALIZER } from '#pkg/capi/contract-names.ts';
import { readClaim } from '#pkg/capi/read-claim.ts';
import { type MachineAddress, readIpAddress } from '#pkg/capi/read-ip-address.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { CLAIMS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { apiVersionOf, type KubeObject, type ObjectName, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { recordOfAddress } from './claim-observer.ts';
import type { PoolEdits } from './pool-edits.ts';

export interface KeepAddressRecordsOptions extends ReconcilerContext {
  readonly views: Record<'claims' | 'addresses' | 'pools' | 'namespaces', ObjectView>;
  readonly claims: FreshObjects;
  readonly addresses: FreshObjects;
  readonly records: FreshRecords;
  readonly recordsView: RecordsView;
  readonly catalog: PoolReadings;
  readonly ledger: Pick<Ledger, 'create'>;
  readonly events: Events;
  readonly edits: PoolEdits;
}

const DEBOUNCE_MS = 20;
const MOST_COLLISIONS = 10_000;

/**
 * Keeps a record for every IPAddress of our pools, paused or not: what a move brings is in use. No machine is renumbered: where the
 * number has another holder, that is said and left.
 */
export function keepAddressRecords(options: KeepAddressRecordsOptions): AsyncDisposable {
  const { client, log, events, views, records, recordsView, edits, ledger, isLeader } = options;
  /** The IPAddresses that wait for the record of another holder to go, by the name of that record. */
  const collisions = new Map<string, Set<string>>();

  const report = (address: MachineAddress, message: string, name: string | null) => {
    if (collisions.size >= MOST_COLLISIONS) collisions.clear();
    const waiting = (name === null ? undefined : collisions.get(name)) ?? new Set();
    if (waiting.has(keyOf(address))) return;
    if (name !== null) collisions.set(name, waiting.add(keyOf(address)));
    tell(address, 'AddressNotRecorded', message);
  };
  const tell = (address: MachineAddress, reason: string, note: string) => {
    log.warn({ address: keyOf(address) }, note);
    const { namespace, name, uid } = address;
    const regarding = { apiVersion: apiVersionOf(IP_ADDRESSES), kind: IP_ADDRESSES.kind, namespace, name, uid };
    events.emit({ regarding, type: 'Warning', reason, note });
  };

  return startReconciler(options, {
    kind: 'address',
    failed: 'record of an IPAddress not made',
    debounceMs: DEBOUNCE_MS,
    backoff: { firstMs: 100, mostMs: 10_000 },
    caches: [views.claims, views.addresses, views.pools, views.namespaces, recordsView],
    watch: (enqueue) => {
      const enqueueOf = (pool: string | null) => {
        for (const object of views.addresses.all()) {
          const found = readIpAddress(object);
          if (found?.pool != null && (pool === null || found.pool === pool)) enqueue(keyOf(found));
        }
      };
      enqueueOf(null);
      return [
        views.addresses.onChange((at) => enqueue(keyOf(at))),
        views.claims.onChange((at) => {
          // It waited for our finalizer already when its claim was still there.
          if (views.claims.get(at) === null && isEnding(views.addresses.get(at))) enqueue(keyOf(at));
        }),
        edits.onEdit(enqueueOf),
        recordsView.onChange(({ before, after }) => {
          const name = (after ?? before)?.name ?? '';
          collisions.get(name)?.forEach(enqueue);
          if (after === null) collisions.delete(name);
          // Deleted by hand while its machine lives: the IPAddress says so.
          if (after === null && before?.spec.holder.kind === 'IPAddressClaim') enqueue(keyOf(before.spec.holder));
        }),
      ];
    },
    reconcile: async (key, pass) => {
      const known = observeAddress(options.addresses.get(nameOfKey(key)), options);
      if (known === null) return undefined;
      const first = planAddressRecord(known);
      if (first.do === 'nothing') return undefined;
      if (first.do === 'report') return void report(known.address, first.message, known.record?.name ?? null);
      // The claim may be giving the address back, and the watch of claims may be late.
      const address = await read(IP_ADDRESSES, nameOfKey(key));
      const claim = await read(CLAIMS, { ...nameOfKey(key), name: known.address.claim ?? '' });
      // A claim that ended between the two took its IPAddress with it.
      const found = claim === null ? await read(IP_ADDRESSES, nameOfKey(key)) : address;
      const now = observeAddress(found, options);
      if (now === null) return undefined;
      const verdict = planAddressRecord({ ...now, claim: claim === null ? null : readClaim(claim) });
      if (verdict.do === 'let-go') return unprotect(now.address, pass);
      if (verdict.do === 'report') return void report(now.address, verdict.message, now.record?.name ?? null);
      if (verdict.do !== 'create') return undefined;
      if (!isLeader()) return NOT_LEADER_MS;
      const outcome = await ledger.create(verdict.spec);
      if (outcome.record !== null) records.wrote(outcome.record);
      const labels = views.namespaces.get({ name: now.address.namespace })?.metadata.labels ?? {};
      const unasked = now.pool === null ? null : describeUnaskedNumber(now.address, now.pool, labels);
      if (outcome.taken && unasked !== null) tell(now.address, 'AddressTakenUnasked', unasked);
      return outcome.taken ? undefined : DEBOUNCE_MS;
    },
  });

  async function unprotect({ namespace, name, uid, resourceVersion, finalizers }: MachineAddress, { write }: Pass) {
    const metadata = { uid, resourceVersion, finalizers: finalizers.filter((it) => it !== ADDRESS_FINALIZER) };
    const send = () => client.patch(IP_ADDRESSES, { namespace, name }, { metadata });
    return (await write(`IPAddress ${namespace}/${name}`, send)).requeueMs;
  }

  async function read(resource: Resource, at: ObjectName): Promise<KubeObject | null> {
    const found = await client.get(resource, at);
    if (found.ok) return found.object;
    if (found.because === 'NotFound') return null;
    throw new FailedRequest(`${resource.kind} ${keyOf(at)}`, found);
  }
}

function isEnding(object: KubeObject | null): boolean {
  return object?.metadata.deletionTimestamp !== undefined;
}

function observeAddress(object: KubeObject | null, { claims, catalog, records }: KeepAddressRecordsOptions) {
  const address = object === null ? null : readIpAddress(object);
  if (address?.pool == null) return null;
  const pool = catalog.find(address.pool)?.facts ?? null;
  const claim = address.claim === null ? null : claims.get({ namespace: address.namespace, name: address.claim });
  const record = recordOfAddress(records, address, pool?.pool ?? null);
  return { address, claim: claim === null ? null : readClaim(claim), pool, record };
}
