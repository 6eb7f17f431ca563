/** What a node's kubelet knows of one network namespace that has an address. */
export interface Sandbox {
  readonly id: string;
  readonly node: string;
  readonly podKey: string;
  readonly uid: string;
  readonly address: string;
}

const MOST_LINES_OF_AN_ADDRESS = 400;

/**
 * Which addresses processes really use, as only the kubelets know, and the story of each address. Two live sandboxes on one
 * address is the one thing that must never be.
 */
export class Sandboxes {
  readonly #live = new Map<string, Sandbox>();
  readonly #stories = new Map<string, string[]>();
  readonly #forced = new Set<string>();
  readonly #startedMs = performance.now();
  readonly violations: { readonly address: string; readonly what: string }[] = [];
  raised = 0;
  /** Two pods of one StatefulSet identity, the older deleted by force: an operator's word that it does not run. */
  byTheOperatorsWord = 0;

  /** An ADD was answered: from here on its processes use the address. */
  raise(sandbox: Sandbox): void {
    const { id, address } = sandbox;
    this.raised += 1;
    this.tell(address, `live: ${nameOf(sandbox)}`);
    for (const other of this.live()) {
      if (other.address !== address || other.id === id) continue;
      if (this.mayShare(other, sandbox.podKey)) this.byTheOperatorsWord += 1;
      else this.accuse(address, `two live sandboxes: ${nameOf(other)} and ${nameOf(sandbox)}`);
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

  /** Said before the pod is deleted by force. */
  noteForced(uid: string): void {
    this.#forced.add(uid);
  }

  isForced(uid: string): boolean {
    return this.#forced.has(uid);
  }

  /** Whether the next pod of this name may have the address of a sandbox that still lives (rule 7 and Kubernetes' own words on force). */
  mayShare({ uid, podKey }: Sandbox, nextPodKey: string): boolean {
    return this.#forced.has(uid) && podKey === nextPodKey;
  }

  accuse(address: string, what: string): void {
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
