import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosApi } from './chaos-api.ts';
import { listMachines, type Machine } from './machines.ts';
import { RECORDS, type SeenRecord } from './referee.ts';
import type { Sandbox, Sandboxes } from './sandboxes.ts';

const LOOK_EVERY_MS = 300;

/**
 * Continuously compares what is shown for machines with the records, and with the sandboxes of pods. The four kinds of holders that
 * share its ledger: sandboxes of pods, IPAddressClaims, IPAllocations that a user made, and IPAllocations that the controller made for
 * NetworkConfigurations. Virtual machines of KubeVirt are not among them: it is not installed there, and a pod that says it is of
 * one lies (forged-owners.ts).
 */
export class MachineReferee implements AsyncDisposable {
  readonly #api: Pick<ChaosApi, 'list'>;
  readonly #sandboxes: Sandboxes;
  readonly #lookEveryMs: number;
  readonly #loop: Promise<void>;
  /** Where each machine was seen, and when. */
  readonly #known = new Map<string, { readonly address: string; readonly listedAtMs: number }>();
  #shown: readonly Machine[] = [];
  #hasEnded = false;
  looks = 0;

  constructor(api: Pick<ChaosApi, 'list'>, sandboxes: Sandboxes, lookEveryMs = LOOK_EVERY_MS) {
    this.#api = api;
    this.#sandboxes = sandboxes;
    this.#lookEveryMs = lookEveryMs;
    this.#loop = this.#run();
  }

  /** How many machines of this kind had an address. */
  count(kind: Machine['kind']): number {
    return [...this.#known.keys()].filter((id) => id.startsWith(`${kind}/`)).length;
  }

  async #run(): Promise<void> {
    while (!this.#hasEnded) {
      await this.look().catch(() => {});
      await sleep(this.#lookEveryMs);
    }
  }

  /** A machine that is shown before and after a consistent list, and a sandbox that is alive then, had their addresses meanwhile. */
  async look(): Promise<void> {
    const before = new Map(this.#shown.map((machine) => [idOf(machine), machine]));
    const alive = this.#sandboxes.live();
    const listedAtMs = performance.now();
    const records = new Map((await this.#api.list<SeenRecord>(RECORDS)).map((it) => [it.spec.address, it]));
    const after = await listMachines(this.#api);
    this.#shown = after;
    const steady = after.filter((machine) => before.get(idOf(machine))?.address === machine.address);
    const inUse = alive.filter(({ id }) => this.#sandboxes.isLive(id));
    for (const machine of after) this.#follow(machine, listedAtMs);
    for (const machine of steady) {
      this.#compareWithRecord(machine, records.get(machine.address), listedAtMs);
      this.#compareWithOthers(machine, steady, inUse);
    }
    this.looks += 1;
  }

  /** Nobody is renumbered. */
  #follow(machine: Machine, listedAtMs: number): void {
    const { address } = machine;
    const known = this.#known.get(idOf(machine));
    if (known?.address !== address) this.#sandboxes.tell(address, `shown: ${nameOf(machine)}`);
    if (known !== undefined && known.address !== address && !this.#sandboxes.doubts.wentBackSince(known.listedAtMs)) {
      this.#sandboxes.accuse(address, `${nameOf(machine)} had ${known.address} before`);
    }
    this.#known.set(idOf(machine), { address, listedAtMs });
  }

  #compareWithRecord(machine: Machine, record: SeenRecord | undefined, listedAtMs: number): void {
    const { doubts } = this.#sandboxes;
    const objection = objectTo(machine, record);
    if (objection === null) doubts.confirm(machine.uid, listedAtMs);
    else if (doubts.excuse(machine.address, machine.uid, performance.now()) === null)
      this.#sandboxes.accuse(machine.address, objection);
  }

  #compareWithOthers(machine: Machine, machines: readonly Machine[], alive: readonly Sandbox[]): void {
    const { doubts } = this.#sandboxes;
    const { address, uid, key } = machine;
    const twins = machines.filter((it) => it.address === address && idOf(it) < idOf(machine));
    for (const twin of twins) this.#sandboxes.accuse(address, `shown twice: ${nameOf(twin)} and ${nameOf(machine)}`);
    for (const sandbox of alive.filter((it) => it.address === address)) {
      if (this.#sandboxes.isHandedOn(sandbox, key, uid)) continue;
      const nowMs = performance.now();
      const isExcused =
        doubts.excuseTaker(address, uid, nowMs) !== null ||
        doubts.excuseTaker(address, sandbox.uid, nowMs) !== null ||
        doubts.wasAwayAfterRestore(sandbox.node, nowMs);
      const what = `${nameOf(machine)} and a live sandbox of ${sandbox.podKey} (${sandbox.uid}) have it`;
      if (!isExcused) this.#sandboxes.accuse(address, what);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#loop;
  }
}

function objectTo(machine: Machine, record: SeenRecord | undefined): string | null {
  if (record === undefined) return `${nameOf(machine)} has no record`;
  const { holder, state } = record.spec;
  if (holder.kind !== machine.kind || holder.uid !== machine.uid) {
    return `the record of ${nameOf(machine)} belongs to ${holder.kind} ${holder.namespace}/${holder.name} (${holder.uid})`;
  }
  return state === 'Allocated' ? null : `the record of ${nameOf(machine)} is ${state}`;
}

function idOf({ kind, uid }: Machine): string {
  return `${kind}/${uid}`;
}

function nameOf({ kind, key, uid }: Machine): string {
  return `${kind} ${key} (${uid})`;
}
