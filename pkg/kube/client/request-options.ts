import type { KubeObject, ObjectName } from '#pkg/kube/objects/kube-object.ts';
import type { CallOptions } from './caller.ts';

/** `metadata` leaves spec and status on the server. */
export type Form = 'full' | 'metadata';

/** Drops parts of an object. Name, namespace, uid and resourceVersion must stay. */
export type Trim = (object: KubeObject) => KubeObject;

export interface ReadOptions extends CallOptions {
  readonly form?: Form;
}

export interface GetOptions extends ReadOptions {
  readonly subresource?: 'scale';
}

/** `timeoutMs` is for the whole list with all its pages. Without it each page has 10 s and the list two minutes. */
export interface ListOptions extends ReadOptions {
  /** Objects per request; 0 for all in one. Without it pages have about 1 MiB. */
  readonly pageSize?: number;
  readonly pageTimeoutMs?: number;
  /** What is kept of each object while the other pages are read; by default all of it. */
  readonly trim?: Trim;
}

export interface TableOptions extends CallOptions {
  /** Rows per request; 0 for all in one. */
  readonly pageSize?: number;
  readonly pageTimeoutMs?: number;
  /** The columns that are kept while the other pages are read; by default all of them. */
  readonly columns?: readonly string[];
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: 'status';
}

/** The preconditions of a delete. Without them another object of the same name could be deleted. */
export interface Seen extends ObjectName {
  readonly uid: string;
  readonly resourceVersion?: string;
}
