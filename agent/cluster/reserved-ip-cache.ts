import type { Logger } from 'pino';
import { decodeReservedIp, type ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import { logTrouble } from './watch-trouble.ts';

interface Entry {
  readonly good: ReservedIp | null;
  readonly problem: string | null;
}

/** All reserved addresses, by watch. If an object becomes unreadable, what it reserved stays reserved. */
export class ReservedIpCache implements AsyncDisposable {
  readonly synced: Promise<void>;
  readonly #entries = new Map<string, Entry>();
  readonly #reflector: Reflector;

  constructor(client: KubeClient, log: Logger, onChange: () => void) {
    this.#reflector = new Reflector(client, {
      resource: RESERVED_IPS,
      onEvent: (event) => {
        this.#take(event);
        onChange();
      },
      onTrouble: logTrouble(log, 'reserved addresses'),
    });
    this.synced = this.#reflector.synced;
  }

  get all(): readonly ReservedIp[] {
    return [...this.#entries.values()].flatMap(({ good }) => good ?? []);
  }

  get problems(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ problem }) => problem ?? []);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reflector[Symbol.asyncDispose]();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'Synced') return;
    if (event.type === 'Deleted') {
      this.#entries.delete(event.identity.name);
      return;
    }
    const { name } = event.object.metadata;
    try {
      const typed = { ...event.object, apiVersion: apiVersionOf(RESERVED_IPS), kind: RESERVED_IPS.kind };
      this.#entries.set(name, { good: decodeReservedIp(typed), problem: null });
    } catch (thrown) {
      const good = this.#entries.get(name)?.good ?? null;
      const still = good === null ? 'nothing of it is reserved' : 'what it reserved before stays reserved';
      this.#entries.set(name, { good, problem: `SpiderReservedIP ${name}: ${toIpamError(thrown).message}; ${still}` });
    }
  }
}
