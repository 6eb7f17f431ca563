import { join } from 'node:path';
import { callPlugin, type PluginAnswer } from '#test/support/plugin-call.ts';
import type { AgentAtWork, Pod } from './pod-cluster.ts';

/** The sandbox of a pod; another `life` is another sandbox. */
export function containerOf({ uid }: Pod, life = ''): string {
  return `${life}${uid.replaceAll('-', '')}`;
}

export function cniArgs({ namespace, name, uid }: Pod): Record<string, string> {
  return { CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_UID=${uid}` };
}

type CallForPod = (verb: 'ADD' | 'DEL' | 'STATUS', pod: Pod, life?: string) => Promise<PluginAnswer>;

/** The built plugin, as the runtime of this agent's node calls it for a pod. */
export function pluginOf({ socket, directory }: AgentAtWork): CallForPod {
  const env = { IPLEDGER_SOCKET: socket, IPLEDGER_SPOOL: join(directory, 'spool') };
  return (verb, pod, life) => callPlugin({ env }, verb, containerOf(pod, life), { env: cniArgs(pod) });
}
