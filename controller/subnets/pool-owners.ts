import { Listeners } from '#controller/cluster-view/listeners.ts';
import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { type AskingApplications, applicationKey } from './applications.ts';
import { isBuiltIn, templateAnnotations } from './built-in-kinds.ts';
import type { ApplicationReader } from './read-application.ts';

/**
 * What is known of the application of a pool that no application asks for. `gone` and `silent`: the pool may go. `asking`: it asks, or it
 * has no template that could tell. `unknown`: it was read in vain, or not yet; that proves nothing.
 */
export type OwnerVerdict = 'gone' | 'silent' | 'asking' | 'unknown';

export interface PoolOwnersOptions extends ReconcilerContext {
  readonly reader: Pick<ApplicationReader, 'read'>;
  readonly applications: Pick<AskingApplications, 'onChange'>;
  /** An application of another kind, which has no pods now that would name it. */
  readonly onAsking: (application: Controller) => void;
}

const DEBOUNCE_MS = 20;
const WORKERS = 8;
/** An application that cannot be read now may be readable in a minute. */
const KNOWN_FOR_MS = 60_000;

interface Known {
  readonly verdict: OwnerVerdict;
  readonly because: string | null;
  readonly readAtMs: number;
}

/** Reads applications whose pools are to go, uncached, and outside of the passes: one that does not answer holds up no other. */
export class PoolOwners implements AsyncDisposable {
  readonly #options: PoolOwnersOptions;
  /** The oldest first. */
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<string, Controller>();
  readonly #listeners = new Listeners<Controller>();
  readonly #reconciler: AsyncDisposable;
  #enqueue: (key: string) => void = () => {};

  constructor(options: PoolOwnersOptions) {
    this.#options = options;
    this.#reconciler = startReconciler(options, {
      kind: 'application',
      failed: 'application of a pool not read',
      debounceMs: DEBOUNCE_MS,
      workers: WORKERS,
      caches: [],
      watch: (enqueue) => {
        this.#enqueue = enqueue;
        for (const key of this.#asked.keys()) enqueue(key);
        // What the table of applications has learnt is newer than what was read.
        return [options.applications.onChange(({ application }) => void this.#known.delete(keyOf(application)))];
      },
      reconcile: (key) => this.#read(key),
    });
  }

  /** `forMs`: when to ask again. If the pool may go sooner, the listeners are told. */
  verdictOf(application: Controller): { readonly verdict: OwnerVerdict; readonly forMs: number } {
    const key = keyOf(application);
    const known = this.#known.get(key);
    const forMs = known === undefined ? 0 : known.readAtMs + KNOWN_FOR_MS - this.#nowMs;
    if (known !== undefined && forMs > 0) return { verdict: known.verdict, forMs };
    this.#asked.set(key, application);
    this.#enqueue(key);
    return { verdict: 'unknown', forMs: KNOWN_FOR_MS };
  }

  /** The listener gets an application whose pools may go. */
  onChange(listener: (application: Controller) => void): Disposable {
    return this.#listeners.add(listener);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#reconciler[Symbol.asyncDispose]();
  }

  get #nowMs(): number {
    return this.#options.client.timing.nowMs();
  }

  async #read(key: string): Promise<undefined> {
    const application = this.#asked.get(key);
    if (application === undefined) return;
    const reading = await this.#options.reader.read(application);
    this.#asked.delete(key);
    const before = this.#known.get(key);
    const verdict = reading.is === 'there' ? judge(reading.object) : reading.is;
    const because = reading.is === 'unknown' ? reading.because : null;
    this.#forgetOld();
    this.#known.delete(key);
    this.#known.set(key, { verdict, because, readAtMs: this.#nowMs });
    if (because !== null && because !== before?.because)
      this.#options.log.warn({ application: applicationKey(application), why: because }, 'auto pool kept');
    if (verdict === 'asking' && !isBuiltIn(application)) this.#options.onAsking(application);
    if (verdict === 'gone' || verdict === 'silent') this.#listeners.tell(application);
  }

  #forgetOld(): void {
    for (const [key, { readAtMs }] of this.#known) {
      if (this.#nowMs - readAtMs < 2 * KNOWN_FOR_MS) return;
      this.#known.delete(key);
    }
  }
}

function judge(object: KubeObject): OwnerVerdict {
  return templateAnnotations(object) !== null || !hasTemplate(object) ? 'asking' : 'silent';
}

/** Without one its pods alone say whether it asks. */
export function hasTemplate(object: KubeObject): boolean {
  const { template, jobTemplate } = (object['spec'] ?? {}) as { template?: unknown; jobTemplate?: unknown };
  return template !== undefined || jobTemplate !== undefined;
}

function keyOf(application: Controller): string {
  return `${applicationKey(application)} ${application.uid}`;
}
