import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { isOlder, type KubeObject, type ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import type { ObjectIdentity } from '#pkg/kube/watch/known-objects.ts';

interface OwnWrite {
  /** Null: it was deleted by us. */
  readonly object: KubeObject | null;
  readonly uid: string;
  readonly untilMs: number;
}

/** The watch has had its time by then. After a relist there may be no event for an object that came and went. */
const KEEP_MS = 30_000;
const MOST_UNCONFIRMED = 10_000;

/** A cache together with own writes that it does not show yet. So no write is repeated because its event is on its way. */
export class FreshObjects implements Disposable {
  readonly #view: ObjectView;
  readonly #nowMs: () => number;
  readonly #own = new Map<string, OwnWrite>();
  /** Objects that we wrote and that no watch has shown in time. They may exist. */
  readonly #unconfirmed = new Map<string, OwnWrite>();
  readonly #subscription: Disposable;

  constructor(view: ObjectView, nowMs: () => number) {
    this.#view = view;
    this.#nowMs = nowMs;
    this.#subscription = view.onChange((at) => this.#forget(at));
  }

  get(at: ObjectName): KubeObject | null {
    const cached = this.#view.get(at);
    const own = this.#own.get(keyOf(at));
    if (own === undefined) return cached;
    if (own.untilMs < this.#nowMs()) {
      this.#doubt(keyOf(at), own, cached);
      return cached;
    }
    return isNews(own, cached) ? own.object : cached;
  }

  /** Whether it has to be read before it is certain that it is not there. False unless the watch is late by more than 30 s. */
  isUnconfirmed(at: ObjectName): boolean {
    return this.get(at) === null && this.#unconfirmed.has(keyOf(at));
  }

  /** Call it with the answer of every write. An object that only waits to vanish is gone. */
  wrote(object: KubeObject): void {
    const { metadata } = object;
    const isGone = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    this.#note(metadata, { object: isGone ? null : object, uid: metadata.uid });
  }

  deleted(at: ObjectName & { readonly uid: string }): void {
    this.#note(at, { object: null, uid: at.uid });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  /** The event of a write may come before its answer. */
  #note(at: ObjectName, write: Omit<OwnWrite, 'untilMs'>): void {
    const own = { ...write, untilMs: this.#nowMs() + KEEP_MS };
    this.#unconfirmed.delete(keyOf(at));
    if (isNews(own, this.#view.get(at))) this.#own.set(keyOf(at), own);
    else this.#own.delete(keyOf(at));
  }

  #doubt(key: string, own: OwnWrite, cached: KubeObject | null): void {
    this.#own.delete(key);
    if (own.object === null || !isNews(own, cached)) return;
    if (this.#unconfirmed.size >= MOST_UNCONFIRMED) this.#unconfirmed.clear();
    this.#unconfirmed.set(key, own);
  }

  /** An object that was created anew is kept when the late event comes that the one before it is gone. */
  #forget(at: ObjectIdentity): void {
    // The end of an earlier object of that name says nothing of ours.
    if (this.#unconfirmed.get(keyOf(at))?.uid === at.uid) this.#unconfirmed.delete(keyOf(at));
    const own = this.#own.get(keyOf(at));
    if (own === undefined) return;
    const cached = this.#view.get(at);
    const isLate = cached === null ? own.object !== null && own.uid !== at.uid : isNews(own, cached);
    if (!isLate) this.#own.delete(keyOf(at));
  }
}

function isNews({ object, uid }: OwnWrite, cached: KubeObject | null): boolean {
  if (object === null) return cached?.metadata.uid === uid;
  return cached === null || isOlder(cached.metadata.resourceVersion, object.metadata.resourceVersion);
}
