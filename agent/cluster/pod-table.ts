import type { NodePod } from '#agent/sources/pods.ts';
import { isOlder } from '#pkg/kube/objects/kube-object.ts';
import { BoundedMap } from './bounded-map.ts';
import type { SeenPod } from './seen-pod.ts';

interface Entry extends SeenPod {
  /** Shown by the watch, which will also show its end. */
  readonly isWatched: boolean;
}

const MOST_LEARNED = 1_000;
const MOST_GONE = 5_000;

/** The pods of this node, from the watch and from single reads, whichever came first. A pod that was seen gone stays gone. */
export class NodePodTable {
  readonly #entries = new Map<string, Entry>();
  readonly #byName = new Map<string, string>();
  /** The objects that say they are the pod of this UID, in the order they were seen. */
  readonly #byUid = new Map<string, Set<string>>();
  /** Learned by a read and not yet shown by the watch, oldest first. */
  readonly #learned = new Set<string>();
  readonly #gone = new BoundedMap<string, true>(MOST_GONE);
  readonly #onEnd: (uid: string) => void;

  constructor(onEnd: (uid: string) => void) {
    this.#onEnd = onEnd;
  }

  named(namespace: string, name: string): SeenPod | null {
    return this.#entries.get(this.#byName.get(nameKey(namespace, name)) ?? '') ?? null;
  }

  known(uid: string): NodePod | null {
    return this.#standingFor(uid)?.facts ?? null;
  }

  learned(): readonly SeenPod[] {
    return [...this.#learned].flatMap((objectUid) => this.#entries.get(objectUid) ?? []);
  }

  /** Returns the newest version of this pod that is known, which may be newer than `seen`. Null: the pod is gone. */
  see(seen: SeenPod, from: 'watch' | 'read'): NodePod | null {
    const { facts, objectUid } = seen;
    if (this.#gone.get(objectUid) !== undefined) return null;
    const before = this.#entries.get(objectUid);
    const isWatched = from === 'watch' || before?.isWatched === true;
    const newest = before !== undefined && isOlder(facts.resourceVersion, before.facts.resourceVersion) ? before : seen;
    if (before === undefined && this.#isReplaced(seen)) return null;
    this.#put({ facts: newest.facts, objectUid, isWatched });
    const hasEnded = before?.facts.isAlive !== false && !newest.facts.isAlive;
    if (hasEnded && this.#standingFor(newest.facts.uid)?.objectUid === objectUid) this.#onEnd(newest.facts.uid);
    return newest.facts;
  }

  /** The store was restored: what was known is older than whatever comes next, and deleted pods may exist again. */
  startAnew(): void {
    this.#gone.clear();
    for (const [objectUid, entry] of this.#entries) {
      this.#entries.set(objectUid, { ...entry, facts: { ...entry.facts, resourceVersion: '0' } });
    }
  }

  /** Deleted, or found to be. */
  end(objectUid: string): void {
    this.#gone.set(objectUid, true);
    const entry = this.#entries.get(objectUid);
    if (entry === undefined) return;
    const { uid, isAlive } = entry.facts;
    const stoodForIt = this.#standingFor(uid) === entry;
    this.#forget(entry);
    if (isAlive && stoodForIt && this.known(uid)?.isAlive !== true) this.#onEnd(uid);
  }

  /**
   * A mirror pod stands for the static pod that it names, but any tenant may write that annotation. So the object whose own UID it
   * is comes first, even when it is gone. Otherwise the object that was seen first.
   */
  #standingFor(uid: string): Entry | undefined {
    const claimants = this.#byUid.get(uid);
    if (claimants?.has(uid)) return this.#entries.get(uid);
    const [first] = this.#gone.get(uid) === undefined ? (claimants ?? []) : [];
    return this.#entries.get(first ?? '');
  }

  /** There is one pod of a name: of two, the one that was written later lives. */
  #isReplaced(seen: SeenPod): boolean {
    const { facts, objectUid } = seen;
    const other = this.named(facts.namespace, facts.name);
    if (other === null) return false;
    if (!isOlder(facts.resourceVersion, other.facts.resourceVersion)) {
      this.end(other.objectUid);
      return false;
    }
    this.#gone.set(objectUid, true);
    if (this.known(facts.uid) === null) this.#onEnd(facts.uid);
    return true;
  }

  #put(entry: Entry): void {
    const { facts, objectUid, isWatched } = entry;
    this.#entries.set(objectUid, entry);
    this.#byName.set(nameKey(facts.namespace, facts.name), objectUid);
    this.#byUid.set(facts.uid, (this.#byUid.get(facts.uid) ?? new Set()).add(objectUid));
    if (isWatched) this.#learned.delete(objectUid);
    else this.#learned.add(objectUid);
    const [oldest] = this.#learned;
    const tooMany = this.#learned.size > MOST_LEARNED ? this.#entries.get(oldest ?? '') : undefined;
    if (tooMany !== undefined) this.#forget(tooMany);
  }

  #forget({ facts, objectUid }: Entry): void {
    const key = nameKey(facts.namespace, facts.name);
    this.#entries.delete(objectUid);
    this.#learned.delete(objectUid);
    if (this.#byName.get(key) === objectUid) this.#byName.delete(key);
    const claimants = this.#byUid.get(facts.uid);
    claimants?.delete(objectUid);
    if (claimants?.size === 0) this.#byUid.delete(facts.uid);
  }
}

function nameKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
