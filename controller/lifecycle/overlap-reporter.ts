import type { Logger } from 'pino';
import type { Events } from '#pkg/kube/events/events.ts';
import { apiVersionOf, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';

/** Reports the overlaps of the objects of one kind in the log and by an Event, each once per process. */
export class OverlapReporter {
  readonly #resource: Resource;
  readonly #events: Events;
  readonly #log: Logger;
  readonly #reported = new Map<string, string>();

  constructor(resource: Resource, { events, log }: { readonly events: Events; readonly log: Logger }) {
    this.#resource = resource;
    this.#events = events;
    this.#log = log;
  }

  hasReported(name: string): boolean {
    return this.#reported.has(name);
  }

  forget(name: string): void {
    this.#reported.delete(name);
  }

  /** `note` is undefined for an object without overlap. */
  report({ metadata: { name, uid } }: KubeObject, note: string | undefined): void {
    const what = `${uid} ${note}`;
    if (note === undefined) this.forget(name);
    if (note === undefined || this.#reported.get(name) === what) return;
    this.#reported.set(name, what);
    const { kind } = this.#resource;
    this.#log.warn({ kind, name, overlap: note }, 'an object overlaps an earlier one');
    const regarding = { apiVersion: apiVersionOf(this.#resource), kind, namespace: '', name, uid };
    this.#events.emit({ regarding, type: 'Warning', reason: 'Overlap', note });
  }
}
