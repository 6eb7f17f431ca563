import { toRevision } from '#pkg/kube/objects/kube-object.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

interface Members {
  /** The resourceVersion of each record. */
  readonly versions: Map<string, bigint>;
  /** The place of each in the order of the versions; null: not computed since the last change. */
  places: ReadonlyMap<string, number> | null;
}

/**
 * The Retained records of each namespace in the order in which they became Retained, which is that of their last write. The
 * order is the same for every leader.
 */
export class RetainedOrder {
  readonly #byNamespace = new Map<string, Members>();

  put({ name, resourceVersion, spec }: IpRecord): void {
    if (spec.state !== 'Retained') return;
    const { namespace } = spec.holder;
    const members = this.#byNamespace.get(namespace) ?? { versions: new Map(), places: null };
    members.versions.set(name, toRevision(resourceVersion));
    members.places = null;
    this.#byNamespace.set(namespace, members);
  }

  remove({ name, spec }: IpRecord): void {
    const members = this.#byNamespace.get(spec.holder.namespace);
    if (members === undefined || !members.versions.delete(name)) return;
    members.places = null;
    if (members.versions.size === 0) this.#byNamespace.delete(spec.holder.namespace);
  }

  /** How many records of the namespace became Retained before this one. */
  countBefore({ name, spec }: IpRecord): number {
    const members = this.#byNamespace.get(spec.holder.namespace);
    if (members === undefined) return 0;
    members.places ??= placesOf(members.versions);
    return members.places.get(name) ?? 0;
  }
}

function placesOf(versions: ReadonlyMap<string, bigint>): ReadonlyMap<string, number> {
  const sorted = [...versions].sort(([nameA, a], [nameB, b]) => (a === b ? (nameA < nameB ? -1 : 1) : a < b ? -1 : 1));
  return new Map(sorted.map(([name], place) => [name, place]));
}
