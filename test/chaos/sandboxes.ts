import { isOfApplication } from './application-asks.ts';
import { Doubts } from './doubts.ts';

/** What the runtime of a node knows about one interface with an address in a network namespace. */
export interface Sandbox {
  /** Container ID and interface. */
  readonly id: string;
  readonly node: string;
  readonly podKey: string;
  readonly uid: string;
  readonly address: string;
}

const MOST_LINES_OF_AN_ADDRESS = 400;

/**
 * The addresses that processes really use, reported by the kubelets, and the history of each address. Two live sandboxes
 * with one address must never happen.
 */
export class Sandboxes {
  readonly #live = new Map<string, Sandbox>();
  readonly #stories = new Map<string, string[]>();
  readonly #forced = new Set<string>();
  readonly #handedOn = new Set<string>();
  readonly #forged = new Set<string>();
  readonly doubts = new Doubts();
  readonly #startedMs = performance.now();
  readonly violations: { readonly address: string; readonly what: string }[] = [];
  raised = 0;
  /** Those with an address from the pool of an application. */
  raisedFromSubnet = 0;
  /** Two pods of one StatefulSet identity; the older one was deleted by force, by which an operator confirms that it does not run. */
  byTheOperatorsWord = 0;
  /** Two live sandboxes with one address, after an operator deleted its record or restored etcd. */
  contested = 0;

  /** An ADD was answered: from now on its processes use the address. */
  raise(sandbox: Sandbox): void {
    const { id, address } = sandbox;
    this.raised += 1;
    if (isOfApplication(address)) this.raisedFromSubnet += 1;
    this.tell(address, `live: ${nameOf(sandbox)}`);
    for (const other of this.live()) {
      if (other.address !== address || other.id === id) continue;
      const what = `two live sandboxes: ${nameOf(other)} and ${nameOf(sandbox)}`;
      const excuse = this.doubts.excuseTaker(address, sandbox.uid, performance.now());
      if (this.isHandedOn(other, sandbox.podKey, sandbox.uid)) this.byTheOperatorsWord += 1;
      else if (excuse === null) this.accuse(address, what);
      else {
        this.contested += 1;
        this.tell(address, `${what}, after ${excuse}`);
      }
    }
    this.#live.set(id, sandbox);
  }

  /** Its processes are dead. */
  fall(id: string, why: string): void {
    const sandbox = this.#live.get(id);
    if (sandbox === undefined) return;
    this.#live.delete(id);
    this.tell(sandbox.address, `dead: ${nameOf(sandbox)}, ${why}`);
  }

  live(): Sandbox[] {
    return [...this.#live.values()];
  }

  isLive(id: string): boolean {
    return this.#live.has(id);
  }

  /** To be called before the pod is deleted by force. */
  noteForced(uid: string): void {
    this.#forced.add(uid);
  }

  /**
   * Whether another pod rightly has the address of a live sandbox: its pod was deleted by force, by which an operator
   * confirms that it does not run, and the next pod of the same StatefulSet identity took it over (rule 7). From then on
   * the address belongs to that pod, until then to no other.
   */
  isHandedOn({ id, uid, podKey }: Sandbox, nextPodKey: string, nextUid: string | undefined): boolean {
    const isNext = podKey === nextPodKey && nextUid !== undefined && nextUid !== uid;
    if (isNext && this.#forced.has(uid)) this.#handedOn.add(id);
    return this.#handedOn.has(id);
  }

  /** Retained without proof: its pod was deleted by force, and its set wants the name again. */
  isRetainedByForce({ uid, podKey }: Sandbox, nextPodKey: string): boolean {
    return this.#forced.has(uid) && podKey === nextPodKey;
  }

  /** A pod whose owner is a lie of its tenant. */
  noteForged(uid: string): void {
    this.#forged.add(uid);
  }

  isForged(uid: string | undefined): boolean {
    return uid !== undefined && this.#forged.has(uid);
  }

  /** The referee finds the same again at each look: it is told once. */
  accuse(address: string, what: string): void {
    if (this.violations.some((it) => it.address === address && it.what === what)) return;
    this.tell(address, `VIOLATION: ${what}`);
    this.violations.push({ address, what });
  }

  tell(address: string, what: string): void {
    const story = this.#stories.get(address) ?? [];
    this.#stories.set(address, story);
    if (story.length < MOST_LINES_OF_AN_ADDRESS) {
      story.push(
        `${new Date().toISOString()} +${((performance.now() - this.#startedMs) / 1000).toFixed(2)} s  ${what}`,
      );
    }
  }

  story(address: string): readonly string[] {
    return this.#stories.get(address) ?? [];
  }
}

function nameOf({ id, podKey, uid, node }: Sandbox): string {
  return `sandbox ${id.slice(0, 8)} of ${podKey} (${uid}) on ${node}`;
}
