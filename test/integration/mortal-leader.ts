import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { mortal } from '#test/support/mortal-client.ts';
import type { TurnedClock } from '#test/support/turned-clock.ts';
import type { AllocationStage } from './allocation-stage.ts';

export interface Death {
  readonly write: number;
  readonly isSent: boolean;
}

/** Rows of a table: just before, and just after each of these writes. */
export const deaths = (writes: readonly number[]) =>
  writes.flatMap((write) => [
    { write, when: 'before', isSent: false },
    { write, when: 'after', isSent: true },
  ]);

/** A leader that works until it dies at that write. */
export async function leadUntilDead(
  stage: AllocationStage,
  { write, isSent }: Death,
  act: () => Promise<unknown>,
  clock?: TurnedClock,
): Promise<void> {
  const timing = clock === undefined ? {} : { timing: clock.timing };
  const { client, died, isDead } = mortal(stage.cluster.controller(timing), write, isSent);
  const ledger = openKubernetesLedger(client, { timeoutMs: 300, attemptTimeoutMs: 100 });
  await using _leader = stage.lead({
    client,
    ledger,
    viewClient: stage.cluster.controller(),
    isLeader: () => !isDead(),
    ...(clock === undefined ? {} : { now: clock.now }),
  });
  await act();
  await died;
}
