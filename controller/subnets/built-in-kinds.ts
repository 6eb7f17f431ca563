import { decodeController, type OwnerReference } from '#pkg/crd/decode-owner.ts';
import { CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, JOBS, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import { apiVersionOf, isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { STATEFUL_SETS } from '#pkg/kube/objects/sticky-owners.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { pickSubnetAnnotations } from '#pkg/pool/subnet-wish.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The kinds of Kubernetes that make pods, with the number of pods that each wants. */
const REPLICAS = new Map<Resource, (spec: Fields, status: Fields) => unknown>([
  [DEPLOYMENTS, ({ replicas }) => replicas],
  [REPLICA_SETS, ({ replicas }) => replicas],
  [STATEFUL_SETS, ({ replicas }) => replicas],
  [DAEMON_SETS, (_, { desiredNumberScheduled }) => desiredNumberScheduled],
  [JOBS, (spec) => podsOfJob(spec)],
  [CRON_JOBS, ({ jobTemplate }) => podsOfJob(fieldsOf(fieldsOf(jobTemplate)['spec']))],
]);

/**
 * The kinds that may be parts of an application, as agents follow the owners of pods. What an operator makes of an object of its own,
 * for example the StatefulSet of a database, is an application itself.
 */
const PARTS: readonly Resource[] = [REPLICA_SETS, JOBS];

/** The Deployment controller writes it on the ReplicaSets that it makes. */
const OF_DEPLOYMENT = 'pod-template-hash';

export const BUILT_IN_KINDS: readonly Resource[] = [...REPLICAS.keys()];

export function isBuiltIn({ apiVersion, kind }: Pick<Controller, 'apiVersion' | 'kind'>): boolean {
  return BUILT_IN_KINDS.some((resource) => apiVersionOf(resource) === apiVersion && resource.kind === kind);
}

/** An object that makes pods which ask for subnets. */
export interface AskingObject {
  readonly itself: Controller;
  /** The application that a ReplicaSet or Job belongs to. */
  readonly madeBy: OwnerReference | null;
  /** A Deployment made it, and was deleted without it (`kubectl delete --cascade=orphan`). */
  readonly isOrphan: boolean;
  readonly annotations: Labels;
  readonly replicas: number;
}

/** Null for an object whose pods ask for no subnet, or use the network of their host. */
export function readAskingObject(resource: Resource, object: KubeObject): AskingObject | null {
  const { metadata, spec, status } = object;
  const annotations = templateAnnotations(object);
  if (annotations === null) return null;
  const replicas = REPLICAS.get(resource)?.(fieldsOf(spec), fieldsOf(status));
  const { name, namespace = '', uid, labels = {} } = metadata;
  const madeBy = PARTS.includes(resource) ? decodeController(metadata.ownerReferences) : null;
  return {
    itself: { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid },
    madeBy,
    isOrphan: resource === REPLICA_SETS && madeBy === null && labels[OF_DEPLOYMENT] !== undefined,
    annotations,
    replicas: typeof replicas === 'number' && replicas > 0 ? replicas : 0,
  };
}

/** The annotations about subnets of `spec.template`; null if it asks for none, has no template, or uses the network of the host. */
export function templateAnnotations({
  spec,
}: Pick<KubeObject, 'metadata'> & { readonly spec?: unknown }): Labels | null {
  const { template, jobTemplate } = fieldsOf(spec);
  const found = fieldsOf(template ?? fieldsOf(fieldsOf(jobTemplate)['spec'])['template']);
  if (fieldsOf(found['spec'])['hostNetwork'] === true) return null;
  const annotations = fieldsOf(fieldsOf(found['metadata'])['annotations']);
  return pickSubnetAnnotations(
    Object.fromEntries(
      Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
  );
}

/** Pods that run in the end, or at once; at least one. */
function podsOfJob({ completions, parallelism }: Fields): unknown {
  return completions || parallelism || 1;
}

function fieldsOf(value: unknown): Fields {
  return isMap(value) ? value : {};
}
