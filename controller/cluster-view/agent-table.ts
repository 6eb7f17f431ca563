import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { hasAgentLabels, isReadyAgent } from './agent-pods.ts';

/** Whether the agent of a node is Ready, on the monotonic clock of this leader. One of the two is null. */
export interface AgentSighting {
  /** Since when the node has had a Ready agent without a break. */
  readonly readySinceMs: number | null;
  /** Since when it has had none. */
  readonly awaySinceMs: number | null;
}

/** More would be forgotten oldest first, and their nodes have been gone for long. */
const MOST_AWAY = 10_000;

/** Which nodes have a Ready agent. During a rollout a node may have two agent pods, of which one is Ready. */
export class AgentTable {
  readonly #namespace: string;
  /** The nodes of Ready agents, by pod. */
  readonly #nodeOf = new Map<string, string>();
  readonly #readySinceMs = new Map<string, number>();
  readonly #awaySinceMs = new Map<string, number>();
  #lookedSinceMs = 0;

  /** `namespace`: of the agents, which is that of the controller itself. */
  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** From here on a node whose agent was not seen has none. */
  startLooking(nowMs: number): void {
    this.#lookedSinceMs = nowMs;
  }

  sighting(node: string): AgentSighting {
    const readySinceMs = this.#readySinceMs.get(node) ?? null;
    const awaySinceMs = readySinceMs === null ? (this.#awaySinceMs.get(node) ?? this.#lookedSinceMs) : null;
    return { readySinceMs, awaySinceMs };
  }

  /** Pods that are no agents are ignored. */
  see(pod: KubeObject, nowMs: number): void {
    const { namespace = '', name } = pod.metadata;
    if (namespace !== this.#namespace) return;
    const node = isMap(pod['spec']) ? pod['spec']['nodeName'] : undefined;
    if (typeof node === 'string' && node !== '' && hasAgentLabels(pod) && isReadyAgent(pod)) {
      this.#nodeOf.set(name, node);
      this.#awaySinceMs.delete(node);
      if (!this.#readySinceMs.has(node)) this.#readySinceMs.set(node, nowMs);
    } else {
      this.remove(namespace, name, nowMs);
    }
  }

  remove(namespace: string, name: string, nowMs: number): void {
    const node = namespace === this.#namespace ? this.#nodeOf.get(name) : undefined;
    if (node === undefined) return;
    this.#nodeOf.delete(name);
    if ([...this.#nodeOf.values()].includes(node)) return;
    this.#readySinceMs.delete(node);
    this.#awaySinceMs.set(node, nowMs);
    const [oldest] = this.#awaySinceMs.keys();
    if (this.#awaySinceMs.size > MOST_AWAY && oldest !== undefined) this.#awaySinceMs.delete(oldest);
  }
}
