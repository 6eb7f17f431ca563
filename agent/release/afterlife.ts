import type { IpRecord } from '#pkg/crd/ip-record.ts';

/** `free`: it goes back. `retain`: it waits for its sticky holder. `keep`: its pod lives, and gets a new sandbox. */
type Afterlife = 'free' | 'retain' | 'keep';

/** What becomes of an address once its sandbox is gone. */
export type JudgeAfterlife = (record: IpRecord) => Afterlife;

/** Without Kubernetes nothing outlives its container. */
export const NO_AFTERLIFE: JudgeAfterlife = () => 'free';
