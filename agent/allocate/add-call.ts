import type { Call } from '#agent/calls/call.ts';
import type { JournalEntry } from '#agent/debts/journal-entry.ts';
import type { HolderFacts } from '#agent/sources/holder-source.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';

/** One ADD on its way through the steps. */
export interface AddCall {
  readonly args: AddArgs;
  readonly facts: HolderFacts;
  readonly call: Call;
}

/** What earlier calls of this attachment left to be settled. */
export interface Debts {
  /** Which DEL of this attachment is in the spool; null: none. */
  readonly spooled: string | null;
  /** Journal entries: releases that are not done, and writes that may have landed since. */
  readonly unsettled: readonly JournalEntry[];
}
