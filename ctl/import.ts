import { DEFAULT_DOMAIN } from '#pkg/crd/record-name.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes-failure.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes-record.ts';
import { namesIn } from '#pkg/ledger/kubernetes-table.ts';
import { type AdoptionMarker, readMarker, writeMarker } from './adoption-marker.ts';
import { ENDPOINTS, listObjects, POOLS, readPools } from './cluster-objects.ts';
import { findLegacyState, type LegacyState } from './legacy-state.ts';
import { renderImport } from './render-import.ts';
import { type ExitCode, type Session, show } from './session.ts';

export interface ImportAnswer extends LegacyState {
  /** `ready`: a dry run found nothing that stands in the way. */
  readonly outcome: 'adopted' | 'already-adopted' | 'ready' | 'refused';
  readonly marker: AdoptionMarker | null;
}

/** Lets agents begin, unless another address manager left state behind. Exit code 1: it did. */
export async function importState(session: Session, { dryRun }: { readonly dryRun: boolean }): Promise<ExitCode> {
  const { cluster, terminal } = session;
  if (cluster === undefined) throw new IpamError('internal', 'an import needs the API server');
  const adoptedAt = new Date(terminal.nowMs()).toISOString();
  const answer = await decide(cluster.client, dryRun, { adoptedAt, adoptedBy: cluster.user });
  show(session, answer, renderImport);
  return answer.outcome === 'refused' ? 1 : 0;
}

async function decide(client: KubeClient, dryRun: boolean, marker: AdoptionMarker): Promise<ImportAnswer> {
  const before = await readMarker(client);
  const state = await readLegacyState(client);
  if (before !== null) return { ...state, outcome: 'already-adopted', marker: before };
  if (state.addresses.length + state.unreadable.length > 0) return { ...state, outcome: 'refused', marker: null };
  if (dryRun) return { ...state, outcome: 'ready', marker: null };
  const isOurs = await writeMarker(client, marker);
  return isOurs
    ? { ...state, outcome: 'adopted', marker }
    : { ...state, outcome: 'already-adopted', marker: await readMarker(client) };
}

async function readLegacyState(client: KubeClient): Promise<LegacyState> {
  const { pools } = await readPools(client);
  const table = await client.listTable(IP_RECORDS);
  if (!table.ok) throw toLedgerError('list the records', table);
  return findLegacyState({
    pools: await listObjects(client, POOLS),
    endpoints: await listObjects(client, ENDPOINTS),
    records: new Set(namesIn(table.object, undefined)),
    domainOf: (name) => pools.get(name)?.domain ?? DEFAULT_DOMAIN,
  });
}
