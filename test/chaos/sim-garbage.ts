import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiObject, ChaosApi } from './chaos-api.ts';
import { ALLOCATIONS, CLAIMS, CONFIGURATIONS, IP_ADDRESSES, isStaying } from './machines.ts';

const LOOK_EVERY_MS = 1_000;

const DEPENDENTS = [
  { of: IP_ADDRESSES, kind: 'IPAddressClaim', owners: CLAIMS },
  { of: ALLOCATIONS, kind: 'NetworkConfiguration', owners: CONFIGURATIONS },
];

/** The garbage collector of Kubernetes, for the objects of machines. */
export class SimGarbage implements AsyncDisposable {
  readonly #api: ChaosApi;
  readonly #loop: Promise<void>;
  #hasEnded = false;

  constructor(api: ChaosApi) {
    this.#api = api;
    this.#loop = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#hasEnded) {
      for (const kind of DEPENDENTS) await this.#collect(kind).catch(() => {});
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Owners are listed last: whoever is missing then was there before, and is gone. */
  async #collect({ of, kind, owners }: (typeof DEPENDENTS)[number]): Promise<void> {
    const dependents = (await this.#api.list(of)).filter(isStaying);
    const there = new Set((await this.#api.list(owners)).map(({ metadata }) => metadata.uid));
    for (const { metadata } of dependents.filter((it) => isOrphan(it, kind, there))) {
      await this.#api.remove(`${of}/${metadata.name}`, { preconditions: { uid: metadata.uid } });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#loop;
  }
}

function isOrphan({ metadata }: ApiObject, kind: string, there: ReadonlySet<string>): boolean {
  const owners = metadata.ownerReferences?.filter((owner) => owner.kind === kind) ?? [];
  return owners.length > 0 && owners.every(({ uid }) => !there.has(uid));
}
