import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';

/** Reports pools that were created, edited or deleted. The status, which changes with every address, is left out. */
export class PoolEdits implements Disposable {
  readonly #listeners = new Listeners<string>();
  readonly #prints = new Map<string, string>();
  readonly #subscription: Disposable;

  constructor(pools: ObjectView) {
    for (const pool of pools.all()) this.#prints.set(pool.metadata.name, printOf(pool));
    this.#subscription = pools.onChange(({ name }) => this.#compare(name, pools.get({ name })));
  }

  onEdit(listener: (pool: string) => void): Disposable {
    return this.#listeners.add(listener);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #compare(name: string, pool: KubeObject | null): void {
    const print = pool === null ? '' : printOf(pool);
    if ((this.#prints.get(name) ?? '') === print) return;
    if (pool === null) this.#prints.delete(name);
    else this.#prints.set(name, print);
    this.#listeners.tell(name);
  }
}

function printOf({ metadata }: KubeObject): string {
  const { uid, generation, annotations, deletionTimestamp } = metadata;
  return JSON.stringify([uid, generation, annotations, deletionTimestamp]);
}
