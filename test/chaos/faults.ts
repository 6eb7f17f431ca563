import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '#test/support/api-server.ts';
import type { ChaosApi } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';
import { deleteRecords, restoreBackup } from './ledger-accidents.ts';
import type { MortalProcess } from './mortal-process.ts';
import type { Sandboxes } from './sandboxes.ts';
import type { SimKubelet } from './sim-kubelet.ts';
import type { SimRuntime } from './sim-runtime.ts';

/** What runs on one node. */
export interface FaultyNode {
  readonly name: string;
  readonly agent: MortalProcess;
  readonly runtime: SimRuntime;
  readonly kubelet: SimKubelet;
}

export interface FaultsSite {
  readonly server: ApiServer;
  readonly api: ChaosApi;
  readonly nodes: readonly FaultyNode[];
  readonly controllers: readonly MortalProcess[];
  readonly sandboxes: Sandboxes;
  readonly random: Random;
}

interface Fault {
  readonly name: string;
  /** Has no other fault at the same time. */
  readonly victim: object;
  readonly happen: () => Promise<void>;
}

/** A restore keeps new addresses back for a minute, so it must be rare. */
const RARITY: Readonly<Record<string, number>> = { 'etcd restored': 30 };

/** Injected faults. Each fault ends by itself; `heal` waits for that. */
export class Faults {
  readonly #site: FaultsSite;
  readonly #underway = new Map<object, Promise<void>>();
  readonly counts = new Map<string, number>();

  constructor(site: FaultsSite) {
    this.#site = site;
  }

  /** Starts a fault, one that has not happened yet if there is any; does nothing if its target has one already. */
  strike(): string | null {
    const { random } = this.#site;
    const all = this.#draw().filter(({ victim }) => !this.#underway.has(victim));
    const unseen = all.filter(({ name }) => !this.counts.has(name));
    const usual = all.filter(({ name }) => random.isOneIn(RARITY[name] ?? 1));
    const choice = unseen.length > 0 ? unseen : usual;
    if (choice.length === 0) return null;
    const { name, victim, happen } = random.pick(choice);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const done = happen().finally(() => this.#underway.delete(victim));
    this.#underway.set(victim, done);
    return name;
  }

  /** One of each kind, with its target and its length. */
  #draw(): readonly Fault[] {
    const { server, nodes, controllers, random } = this.#site;
    const { kubelet } = random.pick(nodes);
    const { agent, name: agentNode } = random.pick(nodes);
    const bereft = random.pick(nodes);
    const broken = random.pick(nodes);
    const controller = random.pick(controllers);
    const someMs = (least: number, most: number) => least + random.below(most - least);
    return [
      { name: 'agent killed', victim: agent, happen: () => this.#away(agentNode, killed(agent, someMs(0, 5_000))) },
      { name: 'agent paused', victim: agent, happen: () => this.#away(agentNode, paused(agent, someMs(500, 6_000))) },
      // Rarely: a new leader waits longest before it acts, so frequent changes would hide its errors.
      random.isOneIn(2)
        ? { name: 'controller killed', victim: controller, happen: () => killed(controller, someMs(0, 4_000)) }
        : { name: 'controller paused', victim: controller, happen: () => paused(controller, someMs(500, 9_000)) },
      { name: 'node cut off', victim: kubelet, happen: () => this.#cutOff(kubelet, someMs(4_000, 30_000)) },
      random.isOneIn(2)
        ? { name: 'API server killed', victim: server, happen: () => server.restart() }
        : { name: 'API server paused', victim: server, happen: () => paused(server, someMs(500, 6_000)) },
      { name: 'etcd restored', victim: server, happen: () => this.#restore() },
      {
        name: 'records deleted',
        victim: bereft.agent,
        happen: () => this.#away(bereft.name, deleteRecords(bereft.name, bereft.agent, this.#site)),
      },
      {
        name: 'main plugin missing',
        victim: broken.runtime,
        happen: () => this.#withoutPlugin(broken, someMs(5_000, 40_000)),
      },
    ];
  }

  async heal(): Promise<void> {
    await Promise.all(this.#underway.values());
  }

  async #away(node: string, fault: Promise<void>): Promise<void> {
    const { doubts } = this.#site.sandboxes;
    doubts.noteAway(node, Number.POSITIVE_INFINITY);
    await fault;
    doubts.noteAway(node, performance.now());
  }

  /** The node controller marks the node after a while; the kubelet marks it Ready again itself. */
  async #cutOff(kubelet: SimKubelet, ms: number): Promise<void> {
    kubelet.freeze();
    await sleep(ms / 3);
    await setReady(this.#site.api, kubelet.node, false);
    await sleep((ms * 2) / 3);
    kubelet.thaw();
    await setReady(this.#site.api, kubelet.node, true);
  }

  /** Some pods are deleted by force meanwhile: their sandboxes live on and answer. */
  async #withoutPlugin({ name, runtime }: FaultyNode, ms: number): Promise<void> {
    const { sandboxes, api, random } = this.#site;
    runtime.isPluginMissing = true;
    const own = new Map(sandboxes.live().flatMap((it) => (it.node === name ? [[it.uid, it.podKey]] : [])));
    for (const [uid, podKey] of [...own].filter(() => random.isOneIn(2)))
      await deleteByForce(api, sandboxes, podKey, uid);
    await sleep(ms);
    runtime.isPluginMissing = false;
  }

  /** The kubelets report their nodes again. */
  async #restore(): Promise<void> {
    const { server, api, nodes } = this.#site;
    await restoreBackup(server, this.#site);
    for (const { name, kubelet } of nodes) if (!kubelet.isFrozen) await setReady(api, name, true);
  }
}

async function deleteByForce(api: ChaosApi, sandboxes: Sandboxes, podKey: string, uid: string): Promise<void> {
  const [namespace, name] = podKey.split('/');
  sandboxes.noteForced(uid);
  const options = { gracePeriodSeconds: 0, preconditions: { uid } };
  await api.remove(`/api/v1/namespaces/${namespace}/pods/${name}`, options).catch(() => {});
}

/** The node, and with it the pod of its agent. An agent that is killed is back before its kubelet would report it. */
export async function setReady(api: ChaosApi, node: string, isReady: boolean): Promise<void> {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }];
  const status = { status: { conditions } };
  for (const path of [`/api/v1/nodes/${node}`, `/api/v1/namespaces/ipledger/pods/ipledger-agent-${node}`]) {
    const patch = () =>
      api.patch(`${path}/status`, status).then(
        () => true,
        () => false,
      );
    while (!(await patch())) await sleep(300);
  }
}

async function killed(victim: MortalProcess, awayMs: number): Promise<void> {
  await victim.kill();
  await sleep(awayMs);
  victim.start();
}

async function paused(victim: { pause(): void; resume(): void }, ms: number): Promise<void> {
  victim.pause();
  await sleep(ms);
  victim.resume();
}
