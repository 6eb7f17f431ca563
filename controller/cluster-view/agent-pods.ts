import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';

/** The labels of the pods of the agents' DaemonSet (deploy/agent.yaml). */
export const AGENT_LABELS = {
  'app.kubernetes.io/name': 'ipledger',
  'app.kubernetes.io/component': 'agent',
} as const;

/** Compares only labels. Tenants can give them to pods in other namespaces, so the caller must compare the namespace too. */
export function hasAgentLabels({ metadata: { labels = {} } }: KubeObject): boolean {
  return Object.entries(AGENT_LABELS).every(([label, value]) => labels[label] === value);
}

/** An agent that is being deleted serves no more. */
export function isReadyAgent({ metadata, status }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const conditions = isMap(status) ? status['conditions'] : undefined;
  const isTrue = (it: unknown) => isMap(it) && it['type'] === 'Ready' && it['status'] === 'True';
  return Array.isArray(conditions) && conditions.some(isTrue);
}
