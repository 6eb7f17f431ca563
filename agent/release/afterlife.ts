import type { IpRecord } from '#pkg/record/ip-record.ts';

/** `free`: it goes back. `retain`: it waits for its sticky holder. `keep`: its pod lives, and gets a new sandbox. */
type Afterlife = 'free' | 'retain' | 'keep';

/** The sandbox is gone; or its own plugin says that the address is no good, and the sandbox goes after that. */
export type Parting = 'sandbox-gone' | 'conflict';

/** What becomes of an address that leaves its sandbox. */
export type JudgeAfterlife = (record: IpRecord, parting?: Parting) => Afterlife;

/** Without Kubernetes nothing outlives its container. */
export const NO_AFTERLIFE: JudgeAfterlife = () => 'free';
