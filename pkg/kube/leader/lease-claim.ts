import { askPastRefusals } from '#pkg/kube/client/caller.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { isOlder, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type Failure, failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { heldBy, LEASES, type LeaseSpec, readLeaseSpec, released } from './lease.ts';

export interface ClaimOptions {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly leaseMs: number;
  readonly now: () => Date;
  /** The lease is older than it was: etcd was restored from a backup. */
  readonly onRestored: () => void;
}

interface Observed {
  readonly lease: KubeObject;
  readonly spec: LeaseSpec;
  /** When this process first saw this version, on its monotonic clock. */
  readonly sinceMs: number;
}

/** `held`: the API server has this process as the holder. */
export type ClaimResult = { readonly held: true } | { readonly held: false; readonly failure: Failure | null };

/** The lease as one candidate sees it: acquires, renews and releases it. */
export class LeaseClaim {
  readonly #client: KubeClient;
  readonly #options: ClaimOptions;
  #observed: Observed | null = null;
  /** The version that this process saw last, also while `#observed` is null. */
  #lastVersion = '0';

  constructor(client: KubeClient, options: ClaimOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** One write while this process holds the lease, else a read before it. Ends by the deadline. */
  async claim(deadlineMs: number): Promise<ClaimResult> {
    const { identity } = this.#options;
    if (this.#observed?.spec.holderIdentity !== identity) {
      const looked = await this.#look(deadlineMs);
      if (looked !== null) return { held: false, failure: looked };
      if (this.#isHeldByAnother()) return { held: false, failure: null };
    }
    const hold = (before: LeaseSpec | null, now: Date) => heldBy(identity, this.#options.leaseMs, before, now);
    const written = await this.#write(deadlineMs, hold);
    if (written.ok) return { held: true };
    // No answer, or another candidate has written it: read it again before the next try.
    if (this.#observed?.spec.holderIdentity === identity) this.#observed = null;
    const wasTooLate = written.because === 'Conflict' || written.because === 'AlreadyExists';
    return { held: false, failure: wasTooLate ? null : written };
  }

  async giveBack(timeoutMs: number): Promise<Outcome<KubeObject>> {
    if (this.#observed?.spec.holderIdentity !== this.#options.identity) {
      return failure('Conflict', 'the lease is not held');
    }
    const deadlineMs = this.#client.timing.nowMs() + timeoutMs;
    return this.#write(deadlineMs, (before, now) => (before === null ? null : released(before, now)));
  }

  /** Returns null if the read succeeded, also if the lease does not exist. */
  async #look(deadlineMs: number): Promise<Failure | null> {
    const found = await askPastRefusals(this.#client.timing, deadlineMs, (timeoutMs) =>
      this.#client.get(LEASES, this.#options, { timeoutMs }),
    );
    if (!found.ok && found.because !== 'NotFound') return found;
    const isSetBack = !found.ok || this.#isSetBack(found.object);
    // The leader of a moment ago still acts as leader, although the restored lease names another candidate, or there is no lease.
    if (isSetBack && this.#isHeldByAnother()) return null;
    if (found.ok) this.#observe(found.object);
    else this.#observed = null;
    return null;
  }

  /** Reports a restore once. The lease counts as set back until the claim that was seen before it has expired. */
  #isSetBack({ metadata: { resourceVersion } }: KubeObject): boolean {
    const isRestored = isOlder(resourceVersion, this.#lastVersion);
    this.#lastVersion = resourceVersion;
    if (isRestored) this.#options.onRestored();
    return isOlder(resourceVersion, this.#observed?.lease.metadata.resourceVersion ?? '0');
  }

  #observe(lease: KubeObject): void {
    this.#lastVersion = lease.metadata.resourceVersion;
    const isKnown = this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
    const sinceMs = isKnown && this.#observed !== null ? this.#observed.sinceMs : this.#client.timing.nowMs();
    this.#observed = { lease, spec: readLeaseSpec(lease), sinceMs };
  }

  #isHeldByAnother(): boolean {
    if (this.#observed === null) return false;
    const { spec, sinceMs } = this.#observed;
    if (spec.holderIdentity === '' || spec.holderIdentity === this.#options.identity) return false;
    return this.#client.timing.nowMs() < sinceMs + spec.leaseDurationSeconds * 1_000;
  }

  async #write(
    deadlineMs: number,
    change: (before: LeaseSpec | null, now: Date) => LeaseSpec | null,
  ): Promise<Outcome<KubeObject>> {
    const { namespace, name, now } = this.#options;
    const spec = change(this.#observed?.spec ?? null, now());
    const observed = this.#observed;
    const written = await askPastRefusals(this.#client.timing, deadlineMs, (timeoutMs) =>
      observed === null
        ? this.#client.create(LEASES, { metadata: { namespace, name }, spec }, { timeoutMs })
        : this.#client.update(LEASES, { ...observed.lease, spec }, { timeoutMs }),
    );
    if (written.ok) this.#observe(written.object);
    return written;
  }
}
