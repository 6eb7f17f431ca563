import { isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { FAILURES, type Failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import type { CallOptions } from './caller.ts';
import type { KubeClient } from './client.ts';

const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1' };
const POLICIES: Resource = {
  ...REGISTRATION,
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
};
const BINDINGS: Resource = {
  ...REGISTRATION,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
};
const POLICY = 'ipledger-agent-records';

export interface ServerReport {
  /** Empty if it could not be read. */
  readonly version: string;
  /** One sentence each, for the operator. */
  readonly warnings: readonly string[];
  /** Why nothing may be written on this API server; else null. */
  readonly refusal: string | null;
}

/** Three small reads: what an operator should know before the first address is given out. Fails only if a later try may succeed. */
export async function examineServer(client: KubeClient, options: CallOptions = {}): Promise<Outcome<ServerReport>> {
  const [version, policy, binding] = await Promise.all([
    client.version(options),
    client.get(POLICIES, { name: POLICY }, { ...options, form: 'metadata' }),
    client.get(BINDINGS, { name: POLICY }, options),
  ]);
  for (const outcome of [version, policy, binding]) {
    if (!outcome.ok && FAILURES[outcome.because].retry) return outcome;
  }
  const unread = version.ok ? null : `the version of the API server cannot be read: ${version.message}`;
  const judged = judgeVersion(version.ok ? version.object : '');
  const warnings = [unread, judged.warning, judgePolicy(policy, binding)].filter((it) => it !== null);
  return { ok: true, object: { version: version.ok ? version.object : '', warnings, refusal: judged.refusal } };
}

/** A version that cannot be parsed is a distribution's own business: no words about it. */
export function judgeVersion(version: string): { readonly warning: string | null; readonly refusal: string | null } {
  const [, major = 0, minor = 0, patch = 0] = (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  if (major !== 1) return { warning: null, refusal: null };
  if (minor < 30) {
    const why = 'before, no admission policy can keep an agent from writing the records of other nodes';
    return { warning: null, refusal: `the API server is ${version}, and ipledger needs 1.30 or later: ${why}` };
  }
  return { warning: warningAbout(version, minor, patch), refusal: null };
}

function warningAbout(version: string, minor: number, patch: number): string | null {
  if (minor < 32) {
    const why =
      'before, a feature gate decides whether the token of an agent names its node, which the admission policy needs';
    return `the API server is ${version}, and ipledger is made for 1.32 or later: ${why}`;
  }
  if (minor === 33 && patch < 3) {
    const why =
      '1.33.0 to 1.33.2 read paged lists from etcd and not from the watch cache, which is slow with many records';
    return `the API server is ${version}: ${why}; update to 1.33.3 or later`;
  }
  return null;
}

function judgePolicy(policy: Outcome<KubeObject>, binding: Outcome<KubeObject>): string | null {
  const danger = 'an agent could write the records of other nodes; apply deploy/admission-policy.yaml';
  const failures = [policy, binding].filter((it): it is Failure => !it.ok);
  if (failures.some(({ because }) => because === 'NotFound' || because === 'NotServed')) {
    return `the admission policy ${POLICY} or its binding is missing: ${danger}`;
  }
  const [unread] = failures;
  if (unread !== undefined) return `the admission policy ${POLICY} cannot be read: ${unread.message}`;
  const spec = binding.ok && isMap(binding.object['spec']) ? binding.object['spec'] : {};
  const actions: unknown = spec['validationActions'];
  if (Array.isArray(actions) && actions.includes('Deny')) return null;
  return `the binding of the admission policy ${POLICY} does not deny anything: ${danger}`;
}
