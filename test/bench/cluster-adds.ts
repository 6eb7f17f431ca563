import { type AddArgs, type AddResponse, type DelArgs, PATHS } from '#pkg/agentapi/wire.ts';
import type { ClusterAgentProcess } from '#test/support/cluster-agent-process.ts';
import type { BenchPod } from './cluster-site.ts';
import { type Client, runLoad } from './socket-load.ts';

const IN_FLIGHT_PER_AGENT = 10;

export interface Adding {
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  /** The addresses of the answers, without the prefix length. */
  readonly addresses: readonly string[];
}

/** Sends one ADD for each pod directly to the socket of its node's agent, to all agents in parallel. */
export async function addAll(
  agents: readonly ClusterAgentProcess[],
  pods: readonly (readonly BenchPod[])[],
  pool: string,
  ifName = 'eth0',
): Promise<Adding> {
  const answers: string[] = [];
  const startedMs = performance.now();
  const loads = await Promise.all(
    agents.map((agent, at) =>
      runLoad(agent.socket, pods[at]?.length ?? 0, IN_FLIGHT_PER_AGENT, async (client, index) => {
        answers.push(await client.post(PATHS.ip, JSON.stringify(addArgs(pods[at]?.[index], pool, ifName))));
      }),
    ),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const addresses = answers.map((answer) => addressOf(JSON.parse(answer), ifName));
  return { seconds, latenciesMs: loads.flatMap((it) => it.latenciesMs), addresses };
}

/** One ADD over a kept connection. */
export async function addOne(client: Client, pod: BenchPod, pool: string, timeoutMs?: number): Promise<void> {
  await client.post(PATHS.ip, JSON.stringify(addArgs(pod, pool, 'eth0', timeoutMs)));
}

export async function delAll(
  agents: readonly ClusterAgentProcess[],
  pods: readonly (readonly BenchPod[])[],
): Promise<void> {
  await Promise.all(
    agents.map((agent, at) =>
      runLoad(agent.socket, pods[at]?.length ?? 0, IN_FLIGHT_PER_AGENT, async (client, index) => {
        await client.delete(PATHS.ip, JSON.stringify(delArgs(pods[at]?.[index])));
      }),
    ),
  );
}

function addArgs(pod: BenchPod | undefined, pool: string, ifName: string, timeoutMs = 30_000): AddArgs {
  const netNamespace = '/proc/self/ns/net';
  return { ...delArgs(pod), ifName, netNamespace, defaultIPv4IPPool: [pool], timeoutMs };
}

function delArgs({ name, uid }: BenchPod = { name: '', uid: '' }): DelArgs {
  const who = { podNamespace: 'default', podName: name, podUID: uid };
  return { containerID: uid.replaceAll('-', '').repeat(2), ifName: 'eth0', ...who, network: 'macvlan-conf' };
}

function addressOf({ ips }: AddResponse, ifName: string): string {
  const [address = ''] = ips.find(({ nic }) => nic === ifName)?.address.split('/') ?? [];
  if (address === '') throw new Error(`an ADD for ${ifName} was answered without an address`);
  return address;
}
