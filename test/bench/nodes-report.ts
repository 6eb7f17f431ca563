import type { AuditedRequest } from './audit-log.ts';
import type { AgentWork, Memory } from './nodes-agents.ts';
import { type Line, ms } from './report.ts';
import { median } from './statistics.ts';

const MOST_AGENT_MB = 150;
const MOST_CONTROLLER_MB = 200;
/** Half of what an ADD took in the first version that ran on these nodes, by the pods of a burst (ADR 0108). */
const MOST_ADD_MS = new Map([
  [12, 46],
  [50, 123],
]);
const CREATE = 'create iprecords 201';
const DELETE = 'delete iprecords 200';

export interface ObservedWork {
  readonly work: AgentWork;
  readonly requests: readonly AuditedRequest[];
}

export function sandboxLines<Subject extends string>(
  subjects: readonly Subject[],
  failedIn: (subject: Subject) => readonly number[],
): Line[] {
  const total = (subject: Subject) => failedIn(subject).reduce((sum, it) => sum + it, 0);
  return subjects.map((subject) => ({
    what: `${subject}, failed sandboxes (Events FailedCreatePodSandBox)`,
    value: `${total(subject)} in ${failedIn(subject).length} bursts: ${failedIn(subject).join(' ')}`,
    ...(subject === 'host-local' ? {} : { limit: 'none', isMet: total(subject) === 0 }),
  }));
}

/** Where the time of an ADD goes: at the API server, on a processor, and waiting for one. */
export function addLines(bursts: readonly ObservedWork[], first: ObservedWork | undefined, count: number): Line[] {
  const mostMs = MOST_ADD_MS.get(count) ?? Number.POSITIVE_INFINITY;
  const addMs = median(bursts.map(({ work }) => work.averageAddMs));
  const perAdd = (key: 'cpuMs' | 'waitMs') => median(bursts.map(({ work }) => work[key] / work.adds));
  return [
    {
      what: 'an ADD in the agent, average of a burst',
      value: ms(addMs),
      against: `${ms(first?.work.averageAddMs ?? Number.NaN)} in the first burst`,
      limit: `at most ${mostMs} ms`,
      isMet: addMs <= mostMs,
    },
    {
      what: '  of it the create, from its arrival at the API server to its answer',
      value: ms(median(bursts.map(({ requests }) => averageCreateMs(requests)))),
      against: `${ms(averageCreateMs(first?.requests ?? []))} in the first burst`,
    },
    { what: '  CPU of the agents in the burst, per ADD', value: ms(perAdd('cpuMs')) },
    { what: '  in the burst ready to run without a processor, per ADD', value: ms(perAdd('waitMs')) },
    {
      what: 'ADDs per pod',
      value: (bursts.reduce((sum, { work }) => sum + work.adds, 0) / bursts.length / count).toFixed(2),
    },
  ];
}

function averageCreateMs(requests: readonly AuditedRequest[]): number {
  const creates = requests.filter(({ daemon, call }) => daemon === 'ipledger-agent' && call === CREATE);
  return creates.reduce((sum, { tookMs }) => sum + tookMs, 0) / creates.length;
}

export function memoryLines({ agentMb, controllerMb }: Memory): Line[] {
  const line = (what: string, mb: number, mostMb: number): Line => ({
    what: `RSS of ${what}, the largest, 5 s after the load`,
    value: `${mb} MB`,
    limit: `at most ${mostMb} MB`,
    isMet: mb > 0 && mb <= mostMb,
  });
  return [line('an agent', agentMb, MOST_AGENT_MB), line('a controller', controllerMb, MOST_CONTROLLER_MB)];
}

export function callLines(callsOf: (daemon: string) => ReadonlyMap<string, number>, count: number): Line[] {
  const told = (calls: ReadonlyMap<string, number>) => {
    const total = [...calls.values()].reduce((sum, it) => sum + it, 0);
    return `${(total / count).toFixed(2)}: ${[...calls].map(([call, times]) => `${times} × ${call}`).join(', ')}`;
  };
  const agents = callsOf('ipledger-agent');
  return [
    {
      what: 'agents, for each pod',
      value: told(agents),
      limit: 'a create and a delete',
      isMet: agents.size === 2 && agents.get(CREATE) === count && agents.get(DELETE) === count,
    },
    { what: 'controller, for each pod', value: told(callsOf('ipledger-controller')) },
  ];
}
