import { isDeepStrictEqual } from 'node:util';
import { settleConditions } from '#controller/project/condition.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { MOST_INTERFACES, type NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { type ServedInterface, unique } from '#pkg/vitistack/serving-allocations.ts';
import { ownFieldsOf, shownInterfaces } from './interface-status.ts';

/** The fields of a NetworkConfiguration's status that the provider of its addresses writes. */
export interface ConfigurationStatus {
  readonly phase: 'Ready' | 'Pending' | 'Error';
  readonly status: 'Success' | 'Pending' | 'Failed';
  readonly message: string;
  readonly created: string;
  readonly conditions: readonly unknown[];
  readonly networkInterfaces: readonly object[];
}

export interface StatusFacts {
  readonly configuration: NetworkConfiguration;
  readonly served: readonly ServedInterface[];
  /** Null: there is none, and what the configuration has stays. */
  readonly network: NetworkNamespace | null;
  /** Why it gets nothing new. */
  readonly why: string | null;
}

/**
 * What of a status is ours to say. What others write besides is in the status too, and must not make each repair look like something
 * new: two writers would answer each other at once for ever.
 */
export function wishOf(status: {
  readonly conditions: readonly unknown[];
  readonly networkInterfaces?: readonly object[];
}): object {
  const { conditions, networkInterfaces = [], created: _, ...own } = status as ConfigurationStatus;
  const ready = conditions.filter(isMap).filter(({ type }) => type === 'Ready');
  return {
    ...own,
    conditions: ready.map(({ lastTransitionTime: _time, ...condition }) => condition),
    networkInterfaces: networkInterfaces.map(ownFieldsOf),
  };
}

type Verdict = Pick<ConfigurationStatus, 'phase' | 'message'>;

const STATUS = { Ready: 'Success', Pending: 'Pending', Error: 'Failed' } as const;
const READY = {
  Ready: { status: 'True', reason: 'Configured' },
  Pending: { status: 'False', reason: 'Reconciling' },
  Error: { status: 'False', reason: 'Error' },
} as const;
const LONGEST_MESSAGE = 4_000;

/** The part of the status that is ours, or null if it is there. Fields of others are in the lists too, as they are. */
export function planConfigurationStatus(facts: StatusFacts, now: Date): ConfigurationStatus | null {
  const { configuration } = facts;
  const { phase, message } = judge(facts);
  const wanted = { type: 'Ready', ...READY[phase], message, observedGeneration: configuration.generation };
  const { status: before } = configuration;
  const status: ConfigurationStatus = {
    phase,
    status: STATUS[phase],
    message,
    created: typeof before['created'] === 'string' ? before['created'] : configuration.createdAt,
    conditions: settleConditions(before['conditions'], [wanted], { ours: ['Ready'], now }),
    networkInterfaces: shownInterfaces(facts),
  };
  const isThere = Object.entries(status).every(([field, value]) =>
    isDeepStrictEqual(before[field] ?? emptyOf(value), value),
  );
  return isThere ? null : status;
}

function judge({ configuration: { interfaces }, served, why }: StatusFacts): Verdict {
  const states = served.map(stateOf);
  const errors = [
    ...(why === null ? [] : [why]),
    ...duplicates(interfaces.map(({ name }) => name)),
    ...(interfaces.length > MOST_INTERFACES ? [`more than ${MOST_INTERFACES} interfaces are asked for`] : []),
    ...states.flatMap(({ error }) => error ?? []),
  ];
  const waiting = states.flatMap(({ waits }) => waits ?? []);
  const count = `${states.filter(({ error, waits }) => error === null && waits === null).length} of ${unique(interfaces).length} interfaces have an address`;
  const message = [count, ...errors, ...waiting].join('; ').slice(0, LONGEST_MESSAGE);
  if (errors.length > 0) return { phase: 'Error', message };
  return { phase: waiting.length > 0 ? 'Pending' : 'Ready', message };
}

function stateOf({ wanted, allocations }: ServedInterface): { error: string | null; waits: string | null } {
  const live = allocations.filter(({ isDeleting }) => !isDeleting);
  const name = wanted.name === '' ? 'the interface without a name' : wanted.name;
  if (live.some(({ phase }) => phase === 'Allocated')) return { error: null, waits: null };
  const failed = live.find(({ phase }) => phase === 'Error');
  if (failed !== undefined) return { error: `${name}: ${textOf(failed.status['message'])}`, waits: null };
  const told = textOf(live[0]?.status['message']);
  return { error: null, waits: `${name} waits for its IPAllocation${told === '' ? '' : `: ${told}`}` };
}

function duplicates(names: readonly string[]): readonly string[] {
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...twice].map((name) =>
    name === ''
      ? 'more than one interface has no name: only the first gets an address'
      : `more than one interface is named ${name}: only the first gets an address`,
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The API server leaves out what is empty. */
function emptyOf(value: unknown): unknown {
  return Array.isArray(value) ? [] : undefined;
}
