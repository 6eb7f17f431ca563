import { IpamError } from '#pkg/errors/ipam-error.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';

/** `away`: no request arrives. `mute`: writes are done, but no answer arrives. `late`: creates arrive later. `closed`: writes are refused. */
export type Weather = 'fine' | 'away' | 'mute' | 'late' | 'closed';

export interface UnsteadyLedger {
  readonly ledger: Ledger;
  weather: Weather;
  /** Delivers the late creates. */
  land(): Promise<void>;
}

/** A ledger behind a network that a test can break. */
export function unsteadyLedger(below: Ledger): UnsteadyLedger {
  const underWay: RecordSpec[] = [];
  const network: { weather: Weather } = { weather: 'fine' };
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    if (network.weather === 'away') throw new IpamError('api-server-unavailable', 'the API server is away');
    return await work();
  };
  const write = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (network.weather === 'closed') throw new IpamError('bad-config', `${name} may not be written`);
    const outcome = await read(work);
    if (network.weather === 'mute') throw abandonedWrite('write', name, 'no answer');
    return outcome;
  };
  const ledger = ledgerWith(below, {
    create: (spec) => {
      if (network.weather !== 'late') return write(spec.address, () => below.create(spec));
      underWay.push(spec);
      return Promise.reject(abandonedWrite('create', spec.address, 'no answer'));
    },
    takeOver: (seen, next) => write(seen.name, () => below.takeOver(seen, next)),
    amend: (seen, next) => write(seen.name, () => below.amend(seen, next)),
    release: (seen) => write(seen.name, () => below.release(seen)),
    get: (name) => read(() => below.get(name)),
    byHolder: (key) => read(() => below.byHolder(key)),
    byNode: (node) => read(() => below.byNode(node)),
    takenOf: (pool) => read(() => below.takenOf(pool)),
  });
  return Object.assign(network, {
    ledger,
    land: async () => {
      for (const spec of underWay.splice(0)) await below.create(spec);
    },
  });
}
