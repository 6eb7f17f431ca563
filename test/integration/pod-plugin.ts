import { join } from 'node:path';
import { callPlugin, type PluginAnswer, type PluginCall } from '#test/support/plugin-call.ts';
import type { ClusterAgentProcess } from './cluster-agent-process.ts';
import type { AgentAtWork, Pod } from './pod-cluster.ts';

type Verb = 'ADD' | 'DEL' | 'STATUS';

interface SandboxCall extends Pick<PluginCall, 'env' | 'program'> {
  /** Unless told, that of the pod's first sandbox. */
  readonly containerID?: string;
  /** In the notation of CNI_ARGS. */
  readonly moreArgs?: string;
}

/** `life`: which sandbox of the pod, a prefix in hexadecimal. */
export function containerOf({ uid }: Pod, life = ''): string {
  return `${life}${uid.replaceAll('-', '')}`;
}

/** The plugin as the runtime of kubelet calls it for a pod. */
export function callPluginFor(
  agent: Pick<ClusterAgentProcess, 'env'>,
  verb: Verb,
  pod: Pod,
  { containerID = containerOf(pod), moreArgs = '', env, ...more }: SandboxCall = {},
): Promise<PluginAnswer> {
  const { namespace, name, uid } = pod;
  const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_UID=${uid}`;
  const CNI_ARGS = [args, moreArgs].filter((part) => part !== '').join(';');
  return callPlugin(agent, verb, containerID, { ...more, env: { CNI_ARGS, ...env } });
}

/** The same for an agent of this process. */
export function pluginOf({ socket, directory }: AgentAtWork) {
  const env = { IPLEDGER_SOCKET: socket, IPLEDGER_SPOOL: join(directory, 'spool') };
  return (verb: Verb, pod: Pod, life?: string): Promise<PluginAnswer> =>
    callPluginFor({ env }, verb, pod, { containerID: containerOf(pod, life) });
}
