import type { ClusterState } from '#controller/claim-plan/observed-claim.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { compareAge } from '#controller/give/age-order.ts';
import { CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import { type Claim, readClaim } from '#pkg/capi/read-claim.ts';
import { isPausedCluster } from '#pkg/capi/read-cluster.ts';
import type { ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { ExpectedClaims } from './expected-claims.ts';
import { ARRIVES_FOR_MS, HoldAllowance, LONGEST_HOLD_MS } from './hold-allowance.ts';

type Known = Pick<Claim, 'namespace' | 'name' | 'uid' | 'pool' | 'cluster' | 'createdAt'> & {
  readonly key: string;
  /** For how long a move may bring its IPAddress. */
  readonly untilMs: number;
  /** When this process first saw that it is being deleted. */
  readonly deletedMs: number | null;
  /** It was served before, here or where it comes from: a move keeps our finalizer. We set it on no claim of a paused or missing cluster. */
  readonly isProtected: boolean;
  /** A move carries no status, and a claim that was looked at here has one. */
  readonly hasStatus: boolean;
};

/** Which claims there are for a pool and for a cluster, and for which of them a move may still bring the IPAddress. */
export class ClaimBook {
  readonly #views: Record<'claims' | 'clusters' | 'addresses', ObjectView>;
  readonly #nowMs: () => number;
  readonly #known = new Map<string, Known>();
  readonly #byPool = new Map<string, Set<string>>();
  readonly #byCluster = new Map<string, Set<string>>();
  readonly #expected = new ExpectedClaims();
  readonly #allowance = new HoldAllowance();
  /** The uids of the claims that got their finalizer here. */
  readonly #protectedHere = new Set<string>();

  constructor(views: Record<'claims' | 'clusters' | 'addresses', ObjectView>, nowMs: () => number) {
    this.#views = views;
    this.#nowMs = nowMs;
  }

  /** Call it before our finalizer is written to the claim. */
  protects({ uid }: Pick<Claim, 'uid'>): void {
    this.#protectedHere.add(uid);
  }

  /** For how long a move may still bring the IPAddress of a claim that names no cluster. Where a cluster is named, its pause says so. */
  arrivesForMs(claim: ObjectName, now: Date): number {
    const known = this.#known.get(keyOf(claim));
    return known !== undefined && this.#isArriving(known) ? Math.max(known.untilMs - now.getTime(), 0) : 0;
  }

  /** Call it for every claim at first, and after each change of a claim. The pool, if it waits for one IPAddress less now. */
  update(at: ObjectName): string | null {
    const key = keyOf(at);
    const before = this.#known.get(key);
    const wasExpected = before !== undefined && this.#expected.has(key);
    if (before !== undefined) this.#drop(before);
    this.#read(at, key, before);
    if (before !== undefined && this.#known.get(key)?.uid !== before.uid) this.#protectedHere.delete(before.uid);
    if (wasExpected && this.#views.addresses.get(at) !== null) this.#allowance.refill(before.pool, before.namespace);
    const isSame = this.#expected.has(key) && this.#known.get(key)?.pool === before?.pool;
    return wasExpected && !isSame ? before.pool : null;
  }

  #read(at: ObjectName, key: string, before: Known | undefined): void {
    const object = this.#views.claims.get(at);
    const claim = object === null ? null : readClaim(object);
    if (claim === null) return;
    const { namespace, name, uid, pool, cluster, createdAt, isDeleting } = claim;
    const deletedMs = isDeleting ? (before?.deletedMs ?? this.#nowMs()) : null;
    const isProtected = claim.finalizers.includes(CLAIM_FINALIZER);
    const untilMs = Date.parse(createdAt) + (cluster === null ? ARRIVES_FOR_MS : LONGEST_HOLD_MS);
    const hasStatus = claim.conditions !== undefined || claim.addressName !== null;
    const own = { key, namespace, name, uid, pool, cluster, createdAt };
    this.#known.set(key, { ...own, untilMs, deletedMs, isProtected, hasStatus });
    add(this.#byPool, pool, key);
    if (cluster !== null) add(this.#byCluster, keyOf({ namespace, name: cluster }), key);
    this.weigh(key);
  }

  /** Call it after each change of the cluster or of the IPAddress of a claim. The pool, if it waits for one IPAddress less now. */
  weigh(key: string): string | null {
    const known = this.#known.get(key);
    if (known === undefined) return null;
    const state = this.clusterState(known);
    const isStopped = known.deletedMs === null && (state === 'paused' || state === 'missing');
    const isHere = this.#views.addresses.get(known) !== null;
    if ((isStopped && known.isProtected && !isHere) || this.#isArriving(known)) {
      this.#expected.add(known);
      this.#allowance.use(known.pool, known.namespace, Date.parse(known.createdAt), known.untilMs);
    } else if (this.#expected.has(key)) {
      this.#expected.remove(key);
      if (isHere) this.#allowance.refill(known.pool, known.namespace);
      return known.pool;
    }
    return null;
  }

  #isArriving({ namespace, name, uid, cluster, deletedMs, isProtected, hasStatus }: Known): boolean {
    if (cluster !== null || deletedMs !== null || !isProtected || hasStatus) return false;
    return !this.#protectedHere.has(uid) && this.#views.addresses.get({ namespace, name }) === null;
  }

  clusterState({ namespace, cluster }: Pick<Claim, 'namespace' | 'cluster'>): ClusterState {
    if (cluster === null) return 'unnamed';
    const object = this.#views.clusters.get({ namespace, name: cluster });
    if (object === null) return 'missing';
    return isPausedCluster(object) ? 'paused' : 'running';
  }

  /** The oldest first, as those below: who is woken first is served first. */
  ofPool(pool: string): readonly string[] {
    return this.#byAge(this.#byPool.get(pool));
  }

  ofCluster(at: ObjectName): readonly string[] {
    return this.#byAge(this.#byCluster.get(keyOf(at)));
  }

  /**
   * The youngest claims of paused and missing clusters that were served before and have no IPAddress, of each namespace: a move may be
   * on its way to bring it.
   */
  expected(pool: string): ReturnType<ExpectedClaims['youngest']> {
    return this.#expected.youngest(pool).filter(({ namespace }) => !this.#allowance.isUsedUp(pool, namespace));
  }

  deletedSinceMs(key: string): number {
    return this.#known.get(key)?.deletedMs ?? this.#nowMs();
  }

  #byAge(keys: Iterable<string> = []): readonly string[] {
    const known = [...keys].flatMap((key) => this.#known.get(key) ?? []);
    return known.sort(compareAge).map(({ key }) => key);
  }

  #drop({ key, namespace, pool, cluster }: Known): void {
    this.#known.delete(key);
    remove(this.#byPool, pool, key);
    this.#expected.remove(key);
    if (cluster !== null) remove(this.#byCluster, keyOf({ namespace, name: cluster }), key);
  }
}

function add(index: Map<string, Set<string>>, at: string, key: string): void {
  index.set(at, (index.get(at) ?? new Set()).add(key));
}

function remove(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(at);
}
