import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AddArgs, DelArgs } from '#pkg/agentapi/wire.ts';
import type { ApiObject, ChaosApi } from './chaos-api.ts';
import { type AgentPlace, addBySocket, delBySocket } from './cni-over-socket.ts';
import type { Random } from './fuzz-random.ts';
import type { Sandboxes } from './sandboxes.ts';

const TICK_MS = 300;
/** The lease is not renewed when the last read of the pods is older than this: see `#tick`. */
const FRESH_LIST_MS = 1_500;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

interface Running {
  readonly pod: ApiObject;
  /** Null while there is none; then `isStarting` says whether one is being created. */
  sandbox: string | null;
  isStarting: boolean;
  /** The pod must not get a sandbox any more. */
  isEnding: boolean;
  /** The sandbox is being torn down, and the object removed. */
  isLeaving: boolean;
}

export interface KubeletSite {
  readonly node: string;
  readonly agent: AgentPlace;
  readonly netnsDirectory: string;
  readonly api: ChaosApi;
  readonly sandboxes: Sandboxes;
  readonly random: Random;
}

/**
 * A kubelet and its runtime: it creates sandboxes for the pods of its node, calls the agent for addresses, and knows what
 * is alive. Before it renews its lease, it has ended the pods that were deleted; the ledger does not rest on that.
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
    mkdirSync(site.netnsDirectory, { recursive: true });
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
    const lively = [...this.#running.values()].filter((it) => it.sandbox !== null && !it.isEnding);
    if (lively.length === 0 || this.#isFrozen) return;
    const one = this.#site.random.pick(lively);
    const old = this.#stop(one, 'sandbox restarts');
    const isLate = this.#site.random.isOneIn(3);
    const del = async () => {
      if (isLate) await sleep(500 + this.#site.random.below(4_000));
      await this.#del(one.pod, old);
    };
    const gone = del();
    void (isLate ? this.#bringUp(one) : gone.then(() => this.#bringUp(one)));
  }

  /** The containers of one pod end by themselves. */
  finishSome(): void {
    const bare = [...this.#running.values()].filter(
      ({ pod, sandbox, isEnding }) => sandbox !== null && !isEnding && pod.spec?.['restartPolicy'] === 'Never',
    );
    if (bare.length === 0 || this.#isFrozen) return;
    const one = this.#site.random.pick(bare);
    one.isEnding = true;
    const old = this.#stop(one, 'containers ended');
    void this.#del(one.pod, old).then(() => this.#report(one.pod, 'Succeeded'));
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
    const one = known ?? { pod, sandbox: null, isStarting: false, isEnding: false, isLeaving: false };
    if (deletionTimestamp !== undefined) {
      this.#running.set(uid, one);
      if (!one.isLeaving) void this.#takeDown(one);
    } else if (known === undefined && !isOver) {
      this.#running.set(uid, one);
      void this.#bringUp(one);
    }
  }

  /** Repeats until it succeeds, each time with another sandbox. */
  async #bringUp(one: Running): Promise<void> {
    const { agent, random, sandboxes } = this.#site;
    if (one.isStarting) return;
    one.isStarting = true;
    while (!one.isEnding && !this.#hasEnded) {
      const id = random.bytes(32).toString('hex');
      writeFileSync(this.#netnsOf(id), '');
      const address = await addBySocket(agent, this.#addArgs(one.pod, id));
      if (address !== null && !one.isEnding) {
        one.sandbox = id;
        one.isStarting = false;
        const { uid } = one.pod.metadata;
        sandboxes.raise({ id, node: this.node, podKey: keyOf(one.pod), uid, address });
        await this.#report(one.pod, 'Running', address);
        return;
      }
      if (address !== null) sandboxes.tell(address, `answered too late for ${keyOf(one.pod)}`);
      rmSync(this.#netnsOf(id), { force: true });
      await this.#del(one.pod, id);
      await sleep(300 + random.below(1_200));
    }
    one.isStarting = false;
  }

  async #end(one: Running, why: string): Promise<void> {
    one.isEnding = true;
    if (one.sandbox !== null) await this.#del(one.pod, this.#stop(one, why));
  }

  /** Ends the processes first, then removes the namespace. The DEL follows. */
  #stop(one: Running, why: string): string {
    const id = one.sandbox ?? '';
    one.sandbox = null;
    this.#site.sandboxes.fall(id, why);
    rmSync(this.#netnsOf(id), { force: true });
    return id;
  }

  /** Sends the DEL never, once, twice, or again much later. */
  async #del(pod: ApiObject, id: string): Promise<void> {
    const { random } = this.#site;
    if (random.isOneIn(10)) return;
    await this.#sendDel(pod, id);
    if (random.isOneIn(10)) await this.#sendDel(pod, id);
    if (random.isOneIn(10)) void sleep(random.below(8_000)).then(() => this.#sendDel(pod, id));
  }

  /** Not after the end of the run: it would create a spool in a removed directory. */
  async #sendDel(pod: ApiObject, id: string): Promise<void> {
    if (!this.#hasEnded) await delBySocket(this.#site.agent, this.#delArgs(pod, id));
  }

  /** The object is removed last. If that fails, the next read of the pods finds it again. */
  async #takeDown(one: Running): Promise<void> {
    const { uid } = one.pod.metadata;
    one.isLeaving = true;
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

  #netnsOf(id: string): string {
    return join(this.#site.netnsDirectory, id.slice(0, 32));
  }

  #addArgs(pod: ApiObject, id: string): AddArgs {
    const labels = (pod.metadata as { labels?: Record<string, string> }).labels ?? {};
    const pool = labels['pool'] ?? '';
    return { ...this.#delArgs(pod, id), netNamespace: this.#netnsOf(id), defaultIPv4IPPool: [pool], timeoutMs: 29_000 };
  }

  #delArgs({ metadata }: ApiObject, containerID: string): DelArgs {
    const { namespace: podNamespace = '', name: podName, uid: podUID } = metadata;
    return { containerID, ifName: 'eth0', podNamespace, podName, podUID, network: 'chaos' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#loop;
  }
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function pathOf({ metadata }: ApiObject): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
}
