import type { Holder } from './ip-record.ts';

/** The same workload: what a Retained record waits for. Its pod may be another one. */
export function isSameHolder(
  a: Pick<Holder, 'kind' | 'namespace' | 'name'>,
  b: Pick<Holder, 'kind' | 'namespace' | 'name'>,
): boolean {
  return a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

type Nic = Pick<Holder, 'kind' | 'namespace' | 'name' | 'uid' | 'interface'>;

/** The same interface of the same pod, whichever of its sandboxes asks. */
export function isSameNic(a: Nic, b: Nic): boolean {
  return isSameHolder(a, b) && a.uid === b.uid && a.interface === b.interface;
}
