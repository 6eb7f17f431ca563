/** What was seen at one moment; a referee compares the three kinds of evidence. */
export interface Observation {
  readonly pods: readonly SeenPod[];
  readonly records: readonly SeenRecord[];
  readonly sandboxes: readonly SeenSandbox[];
}

interface SeenPod {
  /** namespace/name */
  readonly name: string;
  readonly uid: string;
  readonly addresses: readonly string[];
}

interface SeenRecord {
  readonly address: string;
  readonly state: string;
  readonly uid: string | undefined;
  readonly interface: string;
  /** node and network namespace, as the sandbox has them. */
  readonly place: string;
}

export interface SeenSandbox {
  readonly place: string;
  /** Address by interface. */
  readonly addresses: readonly (readonly [string, string])[];
}

export const placeOf = (node: string, netns: string): string => `${node}:${netns.slice(netns.lastIndexOf('/') + 1)}`;

/** Sentences about what must not be; empty when pods, records and network namespaces agree. */
export function findFaults({ pods, records, sandboxes }: Observation): string[] {
  const faults: string[] = [];
  const sites = sandboxes.flatMap(({ place, addresses }) =>
    addresses.map(([link, address]) => ({ key: `${place}/${link}`, address })),
  );
  const live = new Map(sites.map(({ key, address }) => [`${key}=${address}`, address]));
  const users = Map.groupBy(sites, ({ address }) => address);
  for (const [address, at] of users)
    if (at.length > 1) faults.push(`${address} is used by ${at.map(({ key }) => key).join(' and ')}`);

  const held = new Set<string>();
  for (const { state, place, address, ...holder } of records) {
    if (state !== 'Allocated') continue;
    const attachment = `${place}/${holder.interface}=${address}`;
    held.add(attachment);
    if (!live.has(attachment))
      faults.push(`the record ${address} names ${place}, where ${holder.interface} is not with it`);
  }
  for (const attachment of live.keys())
    if (!held.has(attachment)) faults.push(`${attachment} is in use without a record`);

  const recordOf = new Map(records.map((record) => [record.address, record]));
  for (const { name, uid, addresses } of pods) {
    for (const address of addresses) {
      const record = recordOf.get(address);
      if (record?.uid !== uid || record.state !== 'Allocated')
        faults.push(`${address} of the pod ${name} is not its record`);
    }
  }
  return faults;
}
