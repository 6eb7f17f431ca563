import type { Resource } from './kube-object.ts';

export const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod' };
export const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace' };
/** The older form of Events: only it can be selected by the component that reported. */
export const EVENTS: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event' };
export const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node' };
export const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };
export const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' };
export const DAEMON_SETS: Resource = { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet' };
export const REPLICA_SETS: Resource = { group: 'apps', version: 'v1', plural: 'replicasets', kind: 'ReplicaSet' };
export const CRON_JOBS: Resource = { group: 'batch', version: 'v1', plural: 'cronjobs', kind: 'CronJob' };
export const JOBS: Resource = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job' };
