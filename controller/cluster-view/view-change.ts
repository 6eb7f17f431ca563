import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { PodFacts } from './pod-facts.ts';

/** `now` is null for an object that was deleted. */
export type ViewChange =
  | { readonly of: 'record'; readonly name: string; readonly before: IpRecord | null; readonly now: IpRecord | null }
  | { readonly of: 'pod'; readonly before: PodFacts | null; readonly now: PodFacts | null }
  | { readonly of: 'node'; readonly name: string };

type Listener = (change: ViewChange) => void;

/** One listener that fails must not keep a change from the others. */
export class Subscribers {
  readonly #listeners = new Set<Listener>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(listener: Listener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  tell(change: ViewChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (thrown) {
        this.#log.error({ of: change.of, why: toIpamError(thrown).message }, 'listener of the cluster view failed');
      }
    }
  }
}
