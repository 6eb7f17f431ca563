import { setTimeout as sleep } from 'node:timers/promises';
import type { AddArgs, DelArgs } from '#pkg/agentapi/wire.ts';
import type { Netns } from '#test/support/netns.ts';
import type { ApiObject } from './chaos-api.ts';
import { type AgentPlace, addBySocket, delBySocket } from './cni-over-socket.ts';
import type { Random } from './fuzz-random.ts';
import type { Sandboxes } from './sandboxes.ts';
import type { Wire } from './wire.ts';

const RETRY_MS = 300;

export interface RuntimeSite {
  readonly node: string;
  readonly agent: AgentPlace;
  readonly wire: Wire;
  readonly sandboxes: Sandboxes;
  readonly random: Random;
}

/** A network namespace with its addresses, from the start of its first ADD until it is removed. */
export interface PodSandbox {
  readonly id: string;
  readonly pod: ApiObject;
  readonly netns: Netns;
  /** The first one is that of `eth0`. */
  readonly addresses: readonly string[];
  ended: Promise<void> | null;
}

/** The container runtime of a node, with its main plugin: it creates and removes sandboxes, and calls the agent for them. */
export class SimRuntime {
  readonly #site: RuntimeSite;
  #isPluginMissing = false;
  #hasEnded = false;

  constructor(site: RuntimeSite) {
    this.#site = site;
  }

  /** Without its main plugin neither ADD nor DEL reaches the agent, and sandboxes live on. */
  set isPluginMissing(isMissing: boolean) {
    this.#isPluginMissing = isMissing;
  }

  get isPluginMissing(): boolean {
    return this.#isPluginMissing;
  }

  /** Null if an ADD failed; nothing of the sandbox is left then. */
  async create(pod: ApiObject): Promise<PodSandbox | null> {
    if (this.#isPluginMissing) return null;
    try {
      return await this.#create(pod);
    } catch (thrown) {
      // At the end of the run the network is removed under calls that are still under way.
      if (this.#hasEnded) return null;
      throw thrown;
    }
  }

  async #create(pod: ApiObject): Promise<PodSandbox | null> {
    const { agent, wire, random, sandboxes, node } = this.#site;
    const id = random.bytes(32).toString('hex');
    const interfaces = interfacesOf(pod);
    const netns = await wire.plug(interfaces);
    const addresses: string[] = [];
    const sandbox: PodSandbox = { id, pod, netns, addresses, ended: null };
    for (const name of interfaces) {
      const address = await addBySocket(agent, addArgs(sandbox, name));
      if (address === null) {
        await this.remove(sandbox, 'an ADD failed');
        return null;
      }
      addresses.push(address);
      const podKey = keyOf(pod);
      sandboxes.raise({ id: `${id}/${name}`, node, podKey, uid: pod.metadata.uid, address });
      await wire.assign(netns, name, address);
    }
    return sandbox;
  }

  /** Resolves when the sandbox is gone, which may take until the main plugin is back. */
  remove(sandbox: PodSandbox, why: string, delDelayMs = 0): Promise<void> {
    sandbox.ended ??= this.#remove(sandbox, why, delDelayMs);
    return sandbox.ended;
  }

  /** From now on nothing is sent: a late DEL would create a spool in a removed directory. */
  end(): void {
    this.#hasEnded = true;
  }

  async #remove(sandbox: PodSandbox, why: string, delDelayMs: number): Promise<void> {
    const { sandboxes, wire } = this.#site;
    while (this.#isPluginMissing && !this.#hasEnded) await sleep(RETRY_MS);
    const interfaces = interfacesOf(sandbox.pod);
    for (const name of interfaces) sandboxes.fall(`${sandbox.id}/${name}`, why);
    await wire.unplug(sandbox.netns);
    await sleep(delDelayMs);
    for (const name of interfaces) await this.#del(sandbox, name);
  }

  /** Sends the DEL never, once, twice, or again much later. */
  async #del(sandbox: PodSandbox, interfaceName: string): Promise<void> {
    const { random } = this.#site;
    const send = async () => {
      if (!this.#hasEnded) await delBySocket(this.#site.agent, delArgs(sandbox, interfaceName));
    };
    if (random.isOneIn(10)) return;
    await send();
    if (random.isOneIn(10)) await send();
    if (random.isOneIn(10)) void sleep(random.below(8_000)).then(send);
  }
}

export function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function labelOf({ metadata }: ApiObject, name: string): string {
  return metadata.labels?.[name] ?? '';
}

function interfacesOf(pod: ApiObject): readonly string[] {
  return labelOf(pod, 'interfaces') === '2' ? ['eth0', 'net1'] : ['eth0'];
}

function addArgs(sandbox: PodSandbox, ifName: string): AddArgs {
  const place = { netNamespace: sandbox.netns.path, defaultIPv4IPPool: [labelOf(sandbox.pod, 'pool')] };
  return { ...delArgs(sandbox, ifName), ...place, timeoutMs: 29_000 };
}

function delArgs({ id, pod: { metadata } }: PodSandbox, ifName: string): DelArgs {
  const { namespace: podNamespace = '', name: podName, uid: podUID } = metadata;
  return { containerID: id, ifName, podNamespace, podName, podUID, network: 'chaos' };
}
