import { type Call, throwIfAbandoned, timeLeftMs, writeLimits } from '#agent/calls/call.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { HolderFacts } from '#agent/sources/holder-source.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type Family, parseAddress } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { Backoff, SYSTEM_TIMING, sleep } from '#pkg/kube/transport/timing.ts';
import type { Ledger, UpdateOutcome } from '#pkg/ledger/ledger.ts';
import type { Pool, Route } from '#pkg/pool/pool.ts';
import { holderKey, type IpRecord, mayHaveSandbox, type RecordSpec } from '#pkg/record/ip-record.ts';
import type { AddressProbe } from './address-probe.ts';
import type { Plan } from './plan.ts';
import type { Reattachment } from './reattachment.ts';
import type { SuspectProbe } from './suspect-probe.ts';
import { draftRecord } from './take-address.ts';
import { poolOf, waitingFor } from './waiting-records.ts';

export interface StickyDeps {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly reattachment: Reattachment;
  readonly probe: AddressProbe;
  readonly suspectProbe: SuspectProbe;
  /** Never from a cache: is the pod behind this call still the one that lives? */
  readonly isStillAlive: (facts: HolderFacts) => Promise<boolean>;
  /** Addresses that no pod may get, as they are now. */
  readonly reserved: (family: Family) => IntervalSet;
  /** How long a call waits for the end of the pod before it to be proven. */
  readonly waitMs: number;
  readonly nowMs: () => number;
}

export interface StickyCall {
  readonly facts: HolderFacts;
  readonly survey: Plan;
  readonly held: ReadonlySet<Family>;
  /** The routes of the pod that no other interface of it carries. */
  readonly routes: readonly Route[];
  readonly call: Call;
}

/** `in-use`: it is Suspect, and a host answered on it or the probe could not be sent. */
type TakeOver = UpdateOutcome | { readonly done: false; readonly because: 'in-use' };

/** Half of each pause is random. A get costs the API server a fraction of a list, and still 200 pods may wait at once. */
const LOOK_AGAIN = { firstMs: 500, mostMs: 2_500 };
const MOST_CHANGES = 3;

/** Rules 3 and 7: a sticky holder's new pod takes the addresses of the one before it, where their pools are still its own. */
export class StickyTakeOver {
  readonly #deps: StickyDeps;
  readonly #stopping = new AbortController();

  constructor(deps: StickyDeps) {
    this.#deps = deps;
  }

  /** The agent stops: no call keeps it from that by waiting for another node. */
  stop(): void {
    this.#stopping.abort();
  }

  async retake(sticky: StickyCall): Promise<IpRecord[]> {
    const retaken: IpRecord[] = [];
    const { isMigrationTarget } = sticky.facts;
    for (const { family, pools, objected } of sticky.survey.families) {
      const isServed = pools.length > 0 || (isMigrationTarget && objected.length > 0);
      if (!isServed || sticky.held.has(family)) continue;
      const record = await this.#retakeOne(family, pools, sticky);
      if (record !== null) retaken.push(record);
    }
    return retaken;
  }

  async #retakeOne(family: Family, pools: readonly Pool[], sticky: StickyCall): Promise<IpRecord | null> {
    const { ledger, nowMs, waitMs } = this.#deps;
    const { facts, call } = sticky;
    const giveUpAtMs = nowMs() + Math.min(waitMs, timeLeftMs(call, nowMs()) / 2);
    const inUse = new Set<string>();
    let changes = 0;
    for (;;) {
      throwIfAbandoned(call);
      const listed = await ledger.byHolder(holderKey(facts.holder, family));
      const own = listed.find(({ spec }) => spec.holder.uid === facts.holder.uid && mayHaveSandbox(spec.state));
      if (own !== undefined) {
        const record = await this.#reattach(own, poolOf(own, pools), sticky);
        if (record !== null) return record;
        changes += 1;
        if (changes === MOST_CHANGES) throw neverStill(own);
        continue;
      }
      const [waiting] = waitingFor(pools, this.#withoutReserved(listed, sticky)).filter(
        ({ record }) => !inUse.has(versionOf(record)),
      );
      if (waiting !== undefined) {
        const outcome = await this.#takeOver(waiting.record, waiting.pool, sticky);
        if (outcome.done) return outcome.record;
        if (outcome.because === 'in-use') inUse.add(versionOf(waiting.record));
        else changes += 1;
        if (changes === MOST_CHANGES) throw neverStill(waiting.record);
        // What is listed now decides: this one is not what it was, or the next one is to be tried.
        continue;
      }
      const allocated = listed.filter(({ spec }) => spec.state === 'Allocated');
      const before = allocated.find((record) => poolOf(record, pools) !== undefined) ?? allocated[0];
      if (before === undefined) return null;
      // The virtual machine lives on in its old pod until it has moved: both have the address, and nothing is written.
      if (facts.isMigrationTarget && facts.holder.kind === 'VirtualMachineInstance') return before;
      if (poolOf(before, pools) === undefined) return null;
      await this.#untilChanged(before, giveUpAtMs, call);
    }
  }

  /** Looks at this one record: a list by label costs the API server a walk over all records. */
  async #untilChanged(before: IpRecord, giveUpAtMs: number, call: Call): Promise<void> {
    const { ledger, nowMs } = this.#deps;
    const pauses = new Backoff(LOOK_AGAIN, SYSTEM_TIMING.random);
    const signal = AbortSignal.any([call.signal, this.#stopping.signal]);
    while (!call.signal.aborted) {
      if (this.#stopping.signal.aborted) throw stopping(before);
      if (nowMs() >= giveUpAtMs) throw stillHeld(before);
      await sleep(SYSTEM_TIMING, Math.min(pauses.nextMs(), giveUpAtMs - nowMs()), signal);
      if (signal.aborted) continue;
      const now = await ledger.get(before.name);
      if (now === null || versionOf(now) !== versionOf(before)) return;
    }
  }

  /** What was reserved since is not taken back. A virtual machine that migrates still uses it. */
  #withoutReserved(listed: readonly IpRecord[], { facts }: StickyCall): readonly IpRecord[] {
    if (facts.isMigrationTarget) return listed;
    return listed.filter(({ spec }) => {
      const { family, value } = parseAddress(spec.address);
      return !this.#deps.reserved(family).contains(value);
    });
  }

  /** An earlier ADD of this very pod took it, and its answer was lost: perhaps before the probe. Null: it is not what it was. */
  async #reattach(own: IpRecord, pool: Pool | undefined, { facts, call }: StickyCall): Promise<IpRecord | null> {
    const { index, reattachment, probe } = this.#deps;
    index.put(own);
    const [record] = await reattachment.confirm(own, facts.holder, false);
    if (record === undefined) return null;
    const isKnownGood = facts.isMigrationTarget || index.isAnswered(record);
    if (pool !== undefined && !isKnownGood) await probe.refuseConflict(record, pool, call);
    return record;
  }

  /** The order matters: listed, then the pod itself read, then the write on what was listed. */
  async #takeOver(seen: IpRecord, pool: Pool, { facts, survey, routes, call }: StickyCall): Promise<TakeOver> {
    const { ledger, index, probe, suspectProbe } = this.#deps;
    const holder = { ...facts.holder, attachGeneration: seen.spec.holder.attachGeneration + 1 };
    const drafting = { holder, cleanGateway: survey.cleanGateway, routes };
    const next = draftRecord(pool, parseAddress(seen.spec.address).value, drafting);
    if (seen.spec.state === 'Suspect' && (await suspectProbe.whoAnswers(next, pool, call)) !== 'silence') {
      return { done: false, because: 'in-use' };
    }
    if (isInDoubt(seen)) await this.#refuseUsed(seen, next, pool, call);
    if (!(await this.#deps.isStillAlive(facts))) {
      throw new IpamError('bad-input', `pod ${holder.namespace}/${holder.name} with UID ${holder.uid} is gone`);
    }
    const outcome = await ledger.takeOver(seen, next, writeLimits(call));
    if (!outcome.done) return outcome;
    index.put(outcome.record);
    if (!facts.isMigrationTarget) await probe.refuseConflict(outcome.record, pool, call);
    return outcome;
  }

  /** Nothing is written: the address stays with its holder, whose pod before this one may live on. */
  async #refuseUsed({ spec }: IpRecord, next: RecordSpec, pool: Pool, call: Call): Promise<void> {
    const mac = await this.#deps.probe.findUser(next, pool, call);
    if (mac === null) return;
    const { namespace, name, node } = spec.holder;
    const message = `${spec.address} of ${namespace}/${name} is still used by a host with MAC ${mac}; its pod before this one on node ${node} is not proven to be gone`;
    const hint = pool.hasProxyArp ? '' : proxyArpHint(pool);
    throw new IpamError('sticky-address-conflict', `${message}${hint}`);
  }
}

function proxyArpHint({ name }: Pool): string {
  return `. If this is a router that answers for every address (proxy ARP), set the annotation ipledger.io/proxy-arp: "true" on pool ${name}`;
}

/** Retained without a proof that the sandbox before is gone, such as a pod deleted by force on a node that is away. */
function isInDoubt({ spec }: IpRecord): boolean {
  return spec.state === 'Retained' && spec.holder.uid !== undefined;
}

/** A record that changed is another one to ask the network about. */
function versionOf({ uid, resourceVersion }: IpRecord): string {
  return `${uid} ${resourceVersion}`;
}

function stillHeld({ spec }: IpRecord): IpamError {
  const { namespace, name, uid, node } = spec.holder;
  const message = `${spec.address} of ${namespace}/${name} is still held by its pod before this one (UID ${uid}, node ${node}); it comes over once that pod's end is proven`;
  return new IpamError('address-held', message);
}

/** The plugin asks again, and the next agent has the time that this one has not. */
function stopping({ spec }: IpRecord): IpamError {
  const { namespace, name } = spec.holder;
  return new IpamError(
    'agent-unavailable',
    `the agent is being stopped; ${spec.address} of ${namespace}/${name} was still held by its pod before this one`,
  );
}

function neverStill({ spec }: IpRecord): IpamError {
  const { namespace, name } = spec.holder;
  const message = `${spec.address} of ${namespace}/${name} was changed ${MOST_CHANGES} times while it was being taken over`;
  return new IpamError('address-held', message);
}
