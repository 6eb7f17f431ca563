import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { STATIC_PROVIDER } from '#pkg/vitistack/vitistack-names.ts';

export interface ProviderSettings {
  /** If true, a NetworkConfiguration that names no NetworkNamespace gets nothing. */
  readonly isStrict: boolean;
}

/** A step that may be refused, by a quota or a policy for example, while others are not. */
export type RefusableStep = 'sign' | 'delete' | 'create';

export interface ConfigurationFacts {
  readonly configuration: NetworkConfiguration;
  /** Of the same namespace. */
  readonly networkNamespaces: readonly NetworkNamespace[];
  /** Those that name the configuration in their spec, of any author. */
  readonly allocations: readonly IpAllocation[];
  /** What the API server has just refused, and its words: it is not tried again in this pass. */
  readonly refusals?: Readonly<Partial<Record<RefusableStep, string>>>;
}

/** Whose a NetworkConfiguration is. */
export type Ownership =
  | { readonly is: 'ours'; readonly networkNamespace: NetworkNamespace }
  /** It is unknown whose it is, or it belongs to another operator: it is not touched. */
  | { readonly is: 'not-ours' }
  /** It names another operator now: what we made for it is taken back. */
  | { readonly is: 'given-up' }
  /** Its NetworkNamespace is gone, or is not static any more: what it has stays, and it gets nothing new. */
  | { readonly is: 'kept'; readonly why: string };

/** Rules of static-ip-operator: the provider of the configuration decides if there is one, and the network must be static. */
export function judgeConfiguration(facts: ConfigurationFacts, settings: ProviderSettings): Ownership {
  const { configuration, allocations } = facts;
  const { provider } = configuration;
  const wasOurs = configuration.isTakenOver !== null;
  if (provider !== '' && provider !== STATIC_PROVIDER) return { is: wasOurs ? 'given-up' : 'not-ours' };
  const found = findNetworkNamespace(facts, settings);
  if (typeof found !== 'string' && found.type === 'static') return { is: 'ours', networkNamespace: found };
  if (!wasOurs || allocations.length === 0) return { is: 'not-ours' };
  return {
    is: 'kept',
    why: typeof found === 'string' ? found : `NetworkNamespace ${found.name} is not static any more`,
  };
}

function findNetworkNamespace(facts: ConfigurationFacts, { isStrict }: ProviderSettings): NetworkNamespace | string {
  const { configuration, networkNamespaces, allocations } = facts;
  const wanted = configuration.networkNamespace;
  if (wanted === '' && isStrict) return 'it names no NetworkNamespace';
  const name = wanted === '' ? networkOf(allocations) : wanted;
  const found =
    name === null
      ? networkNamespaces.toSorted((a, b) => (a.name < b.name ? -1 : 1))[0]
      : networkNamespaces.find((it) => it.name === name);
  if (found !== undefined) return found;
  return name === null ? 'there is no NetworkNamespace' : `NetworkNamespace ${name} does not exist`;
}

/** Where none is named, the one that was taken at first stays, whatever other ones come. */
function networkOf(allocations: readonly IpAllocation[]): string | null {
  const [oldest] = allocations.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  return oldest?.networkNamespace ?? null;
}
