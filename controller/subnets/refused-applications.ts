import type { Controller, Labels } from '#pkg/pool/request.ts';

/** What a pod, ReplicaSet or Job says while there is no room for the application that it names. */
export interface Refused {
  readonly application: Controller;
  readonly annotations: Labels;
}

/** Of those that find no room so many are served later, when there is some. */
const MOST_IN_NAMESPACE = 1_000;

/** Those that wait for room, by who names them: nothing else tells of them again when there is some. */
export class RefusedApplications {
  readonly #inNamespace = new Map<string, Map<string, Refused>>();

  /** False if so many wait that this one is not remembered. */
  add(by: string, refused: Refused): boolean {
    const { namespace } = refused.application;
    const waiting = this.#inNamespace.get(namespace) ?? new Map<string, Refused>();
    if (waiting.size >= MOST_IN_NAMESPACE) return false;
    this.#inNamespace.set(namespace, waiting.set(by, refused));
    return true;
  }

  remove(by: string, namespace: string): Refused | null {
    const waiting = this.#inNamespace.get(namespace);
    const refused = waiting?.get(by);
    if (waiting === undefined || refused === undefined) return null;
    waiting.delete(by);
    if (waiting.size === 0) this.#inNamespace.delete(namespace);
    return refused;
  }

  namespaces(): string[] {
    return [...this.#inNamespace.keys()];
  }

  /** All that name the application which has waited longest in this namespace. */
  first(namespace: string): (readonly [by: string, refused: Refused])[] {
    const waiting = [...(this.#inNamespace.get(namespace) ?? [])];
    const [, first] = waiting[0] ?? [];
    return waiting.filter(([, { application }]) => isSame(application, first?.application));
  }
}

function isSame(one: Controller, other: Controller | undefined): boolean {
  return (
    one.uid === other?.uid && one.name === other.name && one.kind === other.kind && one.apiVersion === other.apiVersion
  );
}
