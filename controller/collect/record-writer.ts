import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { updateRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { Ledger, UpdateOutcome } from '#pkg/ledger/ledger.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { repairProblem } from '#pkg/record/transitions.ts';

/** The writes of collection. Each is conditional on the very record that was judged. */
export interface RecordWriter extends Pick<Ledger, 'amend' | 'release' | 'create'> {
  /** Makes the record say again what a living pod shows in its status, whatever was changed by hand. */
  repair(seen: IpRecord, next: RecordSpec): Promise<UpdateOutcome>;
}

const TIMEOUT_MS = 8_000;

export function openRecordWriter(client: KubeClient, signal: AbortSignal): RecordWriter {
  const ledger = openKubernetesLedger(client, { timeoutMs: TIMEOUT_MS });
  const limits = () => ({ deadlineMs: client.timing.nowMs() + TIMEOUT_MS, signal });
  return {
    amend: (seen, next) => ledger.amend(seen, next, limits()),
    release: (seen) => ledger.release(seen, limits()),
    create: (spec) => ledger.create(spec, limits()),
    repair: async (seen, next) => {
      const problem = repairProblem(seen.spec, next);
      if (problem !== null) throw new IpamError('internal', `cannot repair ${seen.name}: ${problem}`);
      return await updateRecord(client, seen, next, limits());
    },
  };
}
