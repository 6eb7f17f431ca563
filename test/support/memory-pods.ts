import type { NodePod, PodName, Pods } from '#agent/sources/pods.ts';

/** The pods of worker-1, set by a test. */
export class MemoryPods implements Pods {
  readonly reads: string[] = [];
  readonly #pods = new Map<string, NodePod>();
  readonly #listeners = new Set<(uid: string) => void>();

  put(name: string, more: Partial<NodePod> = {}): NodePod {
    const pod: NodePod = {
      namespace: 'prod',
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      node: 'worker-1',
      labels: {},
      annotations: {},
      controller: null,
      isAlive: true,
      hadSandbox: false,
      ...more,
    };
    this.#pods.set(`${pod.namespace}/${pod.name}`, pod);
    return pod;
  }

  /** Terminating or finished: the object still exists, and its sandbox may too. */
  end(pod: NodePod): void {
    this.put(pod.name, { ...pod, isAlive: false, endedBecause: 'it is being deleted' });
    for (const listener of this.#listeners) listener(pod.uid);
  }

  /** The object is gone, by force or after termination. */
  remove(pod: NodePod): void {
    this.#pods.delete(`${pod.namespace}/${pod.name}`);
    for (const listener of this.#listeners) listener(pod.uid);
  }

  async find(pod: PodName): Promise<NodePod | null> {
    return this.#pods.get(`${pod.namespace}/${pod.name}`) ?? null;
  }

  async read(pod: PodName): Promise<NodePod | null> {
    this.reads.push(pod.name);
    return await this.find(pod);
  }

  known(uid: string): NodePod | null {
    return [...this.#pods.values()].find((pod) => pod.uid === uid) ?? null;
  }

  onEnd(listener: (uid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}
