import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiObject, ChaosApi } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';
import { keyOf, type PodSandbox, type SimRuntime } from './sim-runtime.ts';

const TICK_MS = 300;
/** The lease is not renewed when the last read of the pods is older than this: see `#tick`. */
const FRESH_LIST_MS = 1_500;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

interface Running {
  readonly pod: ApiObject;
  /** Null while there is none; then `isStarting` says whether one is being created. */
  sandbox: PodSandbox | null;
  isStarting: boolean;
  /** The pod must not get a sandbox any more. */
  isEnding: boolean;
  /** Its containers ended by themselves. */
  hasFinished: boolean;
  /** The sandbox is being torn down, and the object removed. */
  isLeaving: boolean;
}

export interface KubeletSite {
  readonly node: string;
  readonly runtime: SimRuntime;
  readonly api: ChaosApi;
  readonly random: Random;
}

/**
 * A kubelet: it has sandboxes created for the pods of its node, and stops those whose pods are deleted, also those that the
 * API server does not know any more. Before it renews its lease, it has begun to end the pods that were deleted; the ledger does
 * not rest on that.
 */
export class SimKubelet implements AsyncDisposable {
  readonly node: string;
  readonly #site: KubeletSite;
  readonly #running = new Map<string, Running>();
  readonly #loop: Promise<void>;
  #isFrozen = false;
  #hasEnded = false;

  constructor(site: KubeletSite) {
    this.#site = site;
    this.node = site.node;
    this.#loop = this.#run();
  }

  /** Cut off: it neither receives nor sends anything, and its pods run on. */
  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Pods that should have an address and do not. */
  waiting(): string[] {
    return [...this.#running.values()]
      .filter(({ sandbox, isEnding }) => sandbox === null && !isEnding)
      .map(({ pod }) => keyOf(pod));
  }

  /** The sandbox of one pod dies, and the pod gets another one. */
  restartSome(): void {
    const lively = this.#lively();
    if (lively.length === 0 || this.#isFrozen) return;
    const one = this.#site.random.pick(lively);
    const isLate = this.#site.random.isOneIn(3);
    const gone = this.#stop(one, 'sandbox restarts', isLate ? 500 + this.#site.random.below(4_000) : 0);
    void (isLate ? this.#bringUp(one) : gone.then(() => this.#bringUp(one)));
  }

  /** The containers of one pod end by themselves. */
  finishSome(): void {
    const bare = this.#lively().filter(({ pod }) => pod.spec?.['restartPolicy'] === 'Never');
    if (bare.length === 0 || this.#isFrozen) return;
    const one = this.#site.random.pick(bare);
    one.isEnding = true;
    one.hasFinished = true;
    void this.#stop(one, 'containers ended').then(() => this.#report(one.pod, 'Succeeded'));
  }

  #lively(): Running[] {
    if (this.#site.runtime.isPluginMissing) return [];
    return [...this.#running.values()].filter((it) => it.sandbox !== null && !it.isEnding);
  }

  async #run(): Promise<void> {
    while (!this.#hasEnded) {
      if (!this.#isFrozen) await this.#tick().catch(() => {});
      await sleep(TICK_MS);
    }
  }

  async #tick(): Promise<void> {
    const { api, node } = this.#site;
    const askedMs = performance.now();
    const pods = await api.list(`/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`);
    if (this.#isFrozen) return;
    const there = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
    for (const [uid, one] of this.#running) {
      if (there.has(uid)) continue;
      this.#running.delete(uid);
      void this.#end(one, 'pod gone');
    }
    for (const pod of pods) this.#see(pod);
    if (performance.now() - askedMs < FRESH_LIST_MS) await this.#renew();
  }

  #see(pod: ApiObject): void {
    const { uid, deletionTimestamp, name } = pod.metadata;
    if (name.startsWith('ipledger-')) return;
    const known = this.#running.get(uid);
    const phase = pod.status?.['phase'];
    const isOver = phase === 'Succeeded' || phase === 'Failed';
    const one = known ?? toRunning(pod);
    if (deletionTimestamp !== undefined) {
      this.#running.set(uid, one);
      if (!one.isLeaving) void this.#takeDown(one);
    } else if (known === undefined && !isOver) {
      this.#running.set(uid, one);
      void this.#bringUp(one);
    } else if (known !== undefined && !isOver) this.#seeAgain(known, pod.status?.['podIP']);
  }

  /** A restore of etcd brings back pods that were removed, and forgets what was reported of others. */
  #seeAgain(known: Running, shown: unknown): void {
    const { pod, sandbox, isEnding, isLeaving, hasFinished } = known;
    if (isLeaving) return;
    if (!isEnding && sandbox !== null && sandbox.addresses[0] !== shown) {
      void this.#report(pod, 'Running', sandbox.addresses[0]);
    }
    if (!isEnding || sandbox !== null) return;
    if (hasFinished) void this.#report(pod, 'Succeeded');
    else this.#running.delete(pod.metadata.uid);
  }

  /** Repeats until it succeeds, each time with another sandbox. */
  async #bringUp(one: Running): Promise<void> {
    const { runtime, random } = this.#site;
    if (one.isStarting) return;
    one.isStarting = true;
    while (!one.isEnding && !this.#hasEnded) {
      const sandbox = await runtime.create(one.pod);
      if (sandbox !== null) {
        one.sandbox = sandbox;
        one.isStarting = false;
        if (one.isEnding) await this.#stop(one, 'answered too late');
        else await this.#report(one.pod, 'Running', sandbox.addresses[0]);
        return;
      }
      await sleep(300 + random.below(1_200));
    }
    one.isStarting = false;
  }

  async #end(one: Running, why: string): Promise<void> {
    one.isEnding = true;
    await this.#stop(one, why);
  }

  async #stop(one: Running, why: string, delDelayMs = 0): Promise<void> {
    const { sandbox } = one;
    if (sandbox === null) return;
    const gone = this.#site.runtime.remove(sandbox, why, delDelayMs);
    if (!this.#site.runtime.isPluginMissing) one.sandbox = null;
    await gone;
    if (one.sandbox === sandbox) one.sandbox = null;
  }

  /** The object is removed last. If that fails, the next read of the pods finds it again. */
  async #takeDown(one: Running): Promise<void> {
    const { uid } = one.pod.metadata;
    one.isLeaving = true;
    one.isEnding = true;
    while (one.isStarting && !this.#hasEnded) await sleep(TICK_MS);
    await this.#end(one, 'pod deleted');
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    if (!this.#isFrozen) await this.#site.api.remove(pathOf(one.pod), options).catch(() => {});
    one.isLeaving = false;
  }

  async #report(pod: ApiObject, phase: string, address?: string): Promise<void> {
    const state = phase === 'Running' ? { running: {} } : { terminated: { exitCode: 0, finishedAt: new Date() } };
    const container = { name: 'main', image: 'main', imageID: '', ready: false, restartCount: 0, state };
    const podIPs = address === undefined ? {} : { podIP: address, podIPs: [{ ip: address }] };
    const status = { phase, containerStatuses: [container], ...podIPs };
    const { uid } = pod.metadata;
    for (let tries = 0; tries < 20 && !this.#hasEnded; tries += 1) {
      if (!this.#isFrozen) {
        const isDone = await this.#site.api.patch(`${pathOf(pod)}/status`, { metadata: { uid }, status }).then(
          () => true,
          (thrown: Error) => / (404|409|422) /.test(thrown.message),
        );
        if (isDone) return;
      }
      await sleep(500);
    }
  }

  async #renew(): Promise<void> {
    const { api, node } = this.#site;
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: node, leaseDurationSeconds: 40, renewTime };
    await api.patch(`${LEASES}/${node}`, { spec }).catch(async (thrown: Error) => {
      if (thrown.message.includes(' 404 ')) await api.create(LEASES, { metadata: { name: node }, spec });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    this.#site.runtime.end();
    await this.#loop;
  }
}

function toRunning(pod: ApiObject): Running {
  return { pod, sandbox: null, isStarting: false, isEnding: false, hasFinished: false, isLeaving: false };
}

function pathOf({ metadata }: ApiObject): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
}
