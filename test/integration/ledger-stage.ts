import { beforeAll, beforeEach } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';

export interface LedgerStage {
  readonly cluster: LedgerCluster;
  /** The agent of worker-1. */
  readonly ledger: Ledger;
  /** An observer with its own connection. */
  readonly onlooker: Ledger;
  all(): Promise<IpRecord[]>;
}

export const SPEC = specOf('10.0.0.1');
export const IMPATIENT = { limits: { connectTimeoutMs: 500 } };
export const inSeconds = (seconds: number) => ({ deadlineMs: performance.now() + seconds * 1_000 });

/** For the top of a file: its own server, without records before each test. */
export function useLedgerStage(): LedgerStage {
  let open: Omit<LedgerStage, 'all'> | undefined;
  const stage = () => {
    if (open === undefined) throw new Error('the stage is set when the first test starts');
    return open;
  };
  beforeAll(async () => {
    const cluster = await startLedgerCluster();
    const ledger = openKubernetesLedger(cluster.agent());
    open = { cluster, ledger, onlooker: openKubernetesLedger(cluster.controller()) };
    return () => cluster[Symbol.asyncDispose]();
  });
  beforeEach(() => stage().cluster.clear());
  return {
    get cluster() {
      return stage().cluster;
    },
    get ledger() {
      return stage().ledger;
    },
    get onlooker() {
      return stage().onlooker;
    },
    all: () => stage().onlooker.list({ limit: 100 }),
  };
}
