import type { Applications } from '#agent/sources/applications.ts';
import type { HolderFacts } from '#agent/sources/holder-source.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { absence, isObjectName } from './absence.ts';
import { builtInKind, type SeenApplication, toSeenApplication, whyApplicationRefuses } from './seen-application.ts';
import type { ReadObject } from './seen-owner.ts';
import { SharedReads } from './shared-reads.ts';

/** How long a "yes" counts. What it rests on, uid and selector, never changes while the object exists. */
const FRESH_MS = 600_000;
const MOST_APPLICATIONS = 2_000;

type Claim = Pick<HolderFacts, 'holder' | 'request' | 'controlledBy' | 'podName'>;

/** Rule 10: a pod that names an application gets addresses of its pool only if the application is there and wants such a pod. */
export class ApplicationVerifier implements Applications {
  readonly #read: ReadObject;
  readonly #reads: SharedReads<Outcome<SeenApplication>>;

  constructor(read: ReadObject, nowMs: () => number) {
    this.#read = read;
    this.#reads = new SharedReads({ freshMs: FRESH_MS, most: MOST_APPLICATIONS, nowMs });
  }

  /** Throws `api-server-unavailable` where the answer is neither yes nor no. */
  async whyNot(claim: Claim, pools: readonly Pick<Pool, 'name' | 'auto'>[]): Promise<string | null> {
    const { controller } = claim.request;
    if (controller === null || wasVerified(claim, controller)) return null;
    const kind = builtInKind(controller);
    const why =
      kind === null
        ? whyUnattested(controller, pools)
        : (claimProblem(claim, controller, kind.through) ?? (await this.#ask(claim, controller, kind.resource)));
    return why === null ? null : `the owner that the pod names does not count: ${why}`;
  }

  async #ask({ request, podName }: Claim, application: Controller, resource: Resource): Promise<string | null> {
    const pod = { name: podName, labels: request.pod.labels };
    const { apiVersion, kind, namespace, name, uid } = application;
    // Not by the uid alone: a tenant may write any uid into a pod.
    const key = JSON.stringify([apiVersion, kind, namespace, name, uid]);
    const isWanted = (it: SeenApplication) => whyApplicationRefuses(pod, application, it) === null;
    const seen = await this.#reads.find(
      key,
      () => this.#readApplication(resource, application),
      (outcome) => outcome.ok && isWanted(outcome.object),
    );
    return seen.ok ? whyApplicationRefuses(pod, application, seen.object) : absence(resource, application, seen);
  }

  async #readApplication(resource: Resource, { namespace, name }: Controller): Promise<Outcome<SeenApplication>> {
    const outcome = await this.#read(resource, { namespace, name });
    return outcome.ok ? { ok: true, object: toSeenApplication(resource, outcome.object) } : outcome;
  }
}

/** Agents may not read owners of every kind. The controller has read this one before it made a pool for its uid. */
function whyUnattested(
  { kind, namespace, name, uid }: Controller,
  pools: readonly Pick<Pool, 'name' | 'auto'>[],
): string | null {
  const other = pools.find(({ auto }) => auto?.applicationUid !== uid);
  return other === undefined
    ? null
    : `pool ${other.name} was not made for the ${kind} ${namespace}/${name} with UID ${uid}`;
}

/** Its owner was read to find out whether it is sticky. */
function wasVerified({ holder }: Claim, { kind, name, uid }: Controller): boolean {
  return (
    holder.sticky === true && holder.owner?.kind === kind && holder.owner.name === name && holder.owner.uid === uid
  );
}

/** The agent itself read what stands in between, and found the application there. */
function claimProblem({ controlledBy }: Claim, top: Controller, through: Resource | null): string | null {
  const application = `${top.kind} ${top.namespace}/${top.name}`;
  if (!isObjectName(top.name)) return `its name ${quote(top.name)} is not the name of an object`;
  const isDirect = controlledBy?.uid === top.uid && controlledBy.kind === top.kind && controlledBy.name === top.name;
  if (through === null) return isDirect ? null : `${application} does not control the pod itself`;
  return isDirect ? `a ${top.kind} controls its pods through a ${through.kind}` : null;
}
