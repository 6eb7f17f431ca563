import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { findShared } from './application-pools.ts';
import type { ChaosApi } from './chaos-api.ts';
import type { Sandbox, Sandboxes } from './sandboxes.ts';

export const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const LOOK_EVERY_MS = 200;

export interface SeenRecord {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: RecordSpec;
}

/** Continuously compares the records with the sandboxes that are alive, and the pools of a subnet with each other. */
export class Referee implements AsyncDisposable {
  readonly #api: Pick<ChaosApi, 'list'>;
  readonly #sandboxes: Sandboxes;
  readonly #loop: Promise<void>;
  #known = new Map<string, SeenRecord>();
  #hasEnded = false;
  looks = 0;

  constructor(api: Pick<ChaosApi, 'list'>, sandboxes: Sandboxes) {
    this.#api = api;
    this.#sandboxes = sandboxes;
    this.#loop = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#hasEnded) {
      await this.#look().catch(() => {});
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** A sandbox that was alive before and after a consistent list held its address during the list. */
  async #look(): Promise<void> {
    const before = this.#sandboxes.live();
    const listedAtMs = performance.now();
    const records = new Map((await this.#api.list<SeenRecord>(RECORDS)).map((it) => [it.spec.address, it]));
    this.#seeChanges(records);
    for (const sandbox of before) {
      if (!this.#sandboxes.isLive(sandbox.id)) continue;
      const objection = this.#objection(sandbox, records.get(sandbox.address));
      if (objection === null) this.#sandboxes.doubts.confirm(sandbox.id, listedAtMs);
      else if (this.#excuse(sandbox) === null) this.#sandboxes.accuse(sandbox.address, objection);
    }
    await this.#lookAtPools();
    this.looks += 1;
  }

  async #lookAtPools(): Promise<void> {
    for (const { address, what } of findShared(await this.#api.list(POOLS)))
      if (this.#sandboxes.doubts.excuse(address, what, performance.now()) === null)
        this.#sandboxes.accuse(address, what);
  }

  #excuse({ address, id }: Sandbox): string | null {
    return this.#sandboxes.doubts.excuse(address, id, performance.now());
  }

  #objection(sandbox: Sandbox, record: SeenRecord | undefined): string | null {
    const who = `live sandbox ${sandbox.id.slice(0, 8)} of ${sandbox.podKey}`;
    const { holder, state } = record?.spec ?? {};
    const podKey = `${holder?.namespace}/${holder?.name}`;
    if (this.#sandboxes.isHandedOn(sandbox, podKey, holder?.uid)) return null;
    if (record === undefined) return `the record of ${who} was freed`;
    if (holder?.uid !== sandbox.uid) return `the record of ${who} belongs to ${podKey} (${holder?.uid}), ${state}`;
    if (state === 'Retained' && this.#sandboxes.isRetainedByForce(sandbox, podKey)) return null;
    return state === 'Allocated' || state === 'Suspect' ? null : `the record of ${who} is ${state}`;
  }

  #seeChanges(records: Map<string, SeenRecord>): void {
    for (const [address, record] of records) {
      const before = this.#known.get(address);
      if (before?.metadata.resourceVersion === record.metadata.resourceVersion) continue;
      const lie = this.#lieThatWorked(before, record);
      if (lie !== null) this.#sandboxes.accuse(address, lie);
      const { state, holder } = record.spec;
      const container = holder.containerID?.slice(0, 8) ?? 'none';
      const what = `${state}, ${holder.namespace}/${holder.name} (${holder.uid}) on ${holder.node}, container ${container}`;
      this.#sandboxes.tell(
        address,
        `record ${record.metadata.resourceVersion}: ${what}, attachGeneration ${holder.attachGeneration}`,
      );
    }
    for (const address of this.#known.keys()) {
      if (!records.has(address)) this.#sandboxes.tell(address, 'record gone');
    }
    this.#known = records;
  }

  /** Rule 10: a forged owner neither makes a holder sticky nor gets it the address of another pod. */
  #lieThatWorked(before: SeenRecord | undefined, { metadata, spec: { state, holder } }: SeenRecord): string | null {
    const isSame = before?.metadata.uid === metadata.uid;
    const who = `${holder.namespace}/${holder.name}, whose owner is forged`;
    if (this.#sandboxes.isForged(holder.uid)) {
      if (holder.sticky === true || holder.kind !== 'Pod') return `sticky: ${who}`;
      if (isSame && before.spec.state === 'Retained') return `taken over by ${who}`;
    }
    const wasForged = isSame && this.#sandboxes.isForged(before.spec.holder.uid);
    return wasForged && state === 'Retained' ? `Retained for ${who}` : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#loop;
  }
}
