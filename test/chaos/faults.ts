import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '#test/support/api-server.ts';
import type { ChaosApi } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';
import type { MortalProcess } from './mortal-process.ts';
import type { SimKubelet } from './sim-kubelet.ts';

export interface FaultsSite {
  readonly server: ApiServer;
  readonly api: ChaosApi;
  readonly agents: readonly MortalProcess[];
  readonly controllers: readonly MortalProcess[];
  readonly kubelets: readonly SimKubelet[];
  readonly random: Random;
}

/** Injected faults. Each fault ends by itself; `heal` waits for that. */
export class Faults {
  readonly #site: FaultsSite;
  readonly #underway = new Map<object, Promise<void>>();
  readonly counts = new Map<string, number>();

  constructor(site: FaultsSite) {
    this.#site = site;
  }

  /** Starts a fault; does nothing if its target has one already. */
  strike(): string | null {
    const { server, agents, controllers, kubelets, random } = this.#site;
    const kubelet = random.pick(kubelets);
    const agent = random.pick(agents);
    const controller = random.pick(controllers);
    const someMs = (least: number, most: number) => least + random.below(most - least);
    const all: readonly (readonly [string, object, () => Promise<void>])[] = [
      ['agent killed', agent, () => killed(agent, someMs(0, 5_000))],
      ['agent paused', agent, () => paused(agent, someMs(500, 6_000))],
      // Rarely: a new leader waits longest before it acts, so frequent changes would hide its errors.
      random.isOneIn(2)
        ? ['controller killed', controller, () => killed(controller, someMs(0, 4_000))]
        : ['controller paused', controller, () => paused(controller, someMs(500, 9_000))],
      ['node cut off', kubelet, () => this.#cutOff(kubelet, someMs(4_000, 30_000))],
      random.isOneIn(2)
        ? ['API server killed', server, () => server.restart()]
        : ['API server paused', server, () => paused(server, someMs(500, 6_000))],
    ];
    const [name, victim, fault] = random.pick(all);
    if (this.#underway.has(victim)) return null;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const done = fault().finally(() => this.#underway.delete(victim));
    this.#underway.set(victim, done);
    return name;
  }

  async heal(): Promise<void> {
    await Promise.all(this.#underway.values());
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
