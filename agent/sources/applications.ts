import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { HolderFacts } from './holder-source.ts';

/** Whether pods belong to the applications that they name. */
export interface Applications {
  /**
   * Why the pod does not count as one of its controller; null: it does. Throws where that is unknown now.
   * `pools` were made for an application of that kind and name: the controller has read it, and wrote its uid on them.
   */
  whyNot(facts: HolderFacts, pools: readonly Pool[]): Promise<string | null>;
}

/** What the controller says about pools that it should make. */
export interface Shortages {
  /** A sentence about the pool of this key; null: nothing stands in its way as far as is known. It never rejects. */
  find(key: AutoPoolKey): Promise<string | null>;
}
