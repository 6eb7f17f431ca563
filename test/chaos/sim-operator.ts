import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosApi } from './chaos-api.ts';
import { RECORDS, type SeenRecord } from './referee.ts';
import type { Sandbox, Sandboxes } from './sandboxes.ts';
import { endVanished, type ToldOfRecord } from './vanished-machines.ts';

const LOOK_EVERY_MS = 1_000;

/**
 * An operator who reads Events: of two pods with one address the one without the record is deleted, and the records of machines
 * that are forgotten are ended. What no Event tells, stays as it is, and the referee finds it.
 */
export class SimOperator implements AsyncDisposable {
  readonly #api: ChaosApi;
  readonly #sandboxes: Sandboxes;
  readonly #loop: Promise<void>;
  #hasEnded = false;

  constructor(api: ChaosApi, sandboxes: Sandboxes) {
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

  async #look(): Promise<void> {
    const told = await this.#api.list<ToldOfRecord>('/apis/events.k8s.io/v1/events');
    await endVanished(told, this.#api, this.#sandboxes);
    const uids = new Set(told.filter(({ reason }) => reason === 'IPAddressInUseTwice').map((it) => it.regarding.uid));
    if (uids.size === 0) return;
    const records = await this.#api.list<SeenRecord>(RECORDS);
    const holders = new Map(records.map(({ spec }) => [spec.address, spec.holder.uid]));
    for (const sandbox of this.#sandboxes.live()) {
      const holder = holders.get(sandbox.address);
      const isLoser = uids.has(sandbox.uid) && holder !== undefined && holder !== sandbox.uid;
      if (isLoser) await this.#delete(sandbox);
    }
  }

  async #delete({ address, podKey, uid }: Sandbox): Promise<void> {
    this.#sandboxes.tell(address, `the operator deletes ${podKey}, which an Event names`);
    const [namespace, name] = podKey.split('/');
    const options = { gracePeriodSeconds: 1, preconditions: { uid } };
    await this.#api.remove(`/api/v1/namespaces/${namespace}/pods/${name}`, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#loop;
  }
}
