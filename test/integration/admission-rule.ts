import { expect, vi } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { remove, sure } from './spider-objects.ts';

const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1' };
const POLICIES = { ...REGISTRATION, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' };
const BINDINGS = { ...POLICIES, plural: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding' };
const PATIENCE = { timeout: 60_000, interval: 100 };

interface Rule {
  readonly name: string;
  readonly kind: Resource;
  readonly operation?: 'CREATE' | 'DELETE';
  /** An expression of CEL: what is refused. */
  readonly refused: string;
  /** An expression of CEL. */
  readonly says: string;
  /** Tries what is refused, and says whether it was. The API server needs a moment to know of a rule. */
  readonly isRefused: () => Promise<boolean>;
}

export interface AdmissionRule extends AsyncDisposable {
  /** Ends it earlier. */
  end(): Promise<void>;
}

/** An admission policy of the cluster, in force when it is returned. */
export async function refuse(
  admin: KubeClient,
  { name, kind, operation = 'CREATE', refused, says, isRefused }: Rule,
): Promise<AdmissionRule> {
  const metadata = { name };
  const rule = { apiGroups: [kind.group], apiVersions: ['*'], resources: [kind.plural], operations: [operation] };
  const validations = [{ expression: `!(${refused})`, messageExpression: says, message: 'refused' }];
  const matchConstraints = { resourceRules: [rule] };
  const policy = await sure(admin.create(POLICIES, { metadata, spec: { matchConstraints, validations } }));
  const spec = { policyName: name, validationActions: ['Deny'] };
  const binding = await sure(admin.create(BINDINGS, { metadata, spec }));
  await vi.waitFor(async () => expect(await isRefused()).toBe(true), PATIENCE);
  let isOver = false;
  const end = async () => {
    if (isOver) return;
    isOver = true;
    await remove(admin, BINDINGS, binding);
    await remove(admin, POLICIES, policy);
    await vi.waitFor(async () => expect(await isRefused()).toBe(false), PATIENCE);
  };
  return { end, [Symbol.asyncDispose]: end };
}
