import {
  ADMIN_PATHS,
  type CheckAnswer,
  type CollectAnswer,
  type ExplainAnswer,
  type PoolsAnswer,
  type RecordsAnswer,
  type ReleaseAnswer,
  type ReleaseArgs,
  type WhoAnswer,
} from '#pkg/agentapi/admin.ts';
import type { AddArgs, ErrorBody } from '#pkg/agentapi/wire.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { isReason } from '#pkg/errors/reasons.ts';
import { type AgentAnswer, type AgentPlace, ask, type CtlQuestion } from './socket-request.ts';

const TIMEOUT_MS = 30_000;
const PAGE_SIZE = 500;

export interface RecordsQuery {
  readonly pool?: string | undefined;
  readonly node?: string | undefined;
  readonly after?: string | undefined;
}

/** The questions of an operator. Every method throws an IpamError if there is no answer or the answer is an error. */
export interface AdminClient {
  pools(): Promise<PoolsAnswer>;
  records(query: RecordsQuery): Promise<RecordsAnswer>;
  who(address: string, domain: string | undefined): Promise<WhoAnswer>;
  explain(args: AddArgs): Promise<ExplainAnswer>;
  check(): Promise<CheckAnswer>;
  release(args: ReleaseArgs): Promise<ReleaseAnswer>;
  collect(wish: { readonly dryRun: boolean }): Promise<CollectAnswer>;
}

export function openAdminClient(socketPath: string, how: Partial<AgentPlace> = {}): AdminClient {
  const place = { timeoutMs: TIMEOUT_MS, isKubernetesNode: false, ...how, socketPath };
  const call = async <T>(question: CtlQuestion) => decode<T>(await ask(place, question));
  const get = <T>(path: string, query: Query = {}) => call<T>({ method: 'GET', path: withQuery(path, query) });
  const post = <T>(path: string, body: unknown) => call<T>({ method: 'POST', path, body });
  return {
    pools: () => get(ADMIN_PATHS.pools),
    records: ({ pool, node, after }) => get(ADMIN_PATHS.records, { pool, node, limit: String(PAGE_SIZE), after }),
    who: (address, domain) => get(ADMIN_PATHS.records, { address, domain }),
    explain: (args) => post(ADMIN_PATHS.explain, args),
    check: () => get(ADMIN_PATHS.check),
    release: (args) => post(ADMIN_PATHS.release, args),
    collect: ({ dryRun }) => (dryRun ? get(ADMIN_PATHS.collect) : post(ADMIN_PATHS.collect, {})),
  };
}

type Query = Readonly<Record<string, string | undefined>>;

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

function decode<T>({ status, text }: AgentAnswer): T {
  const body = parseObject(text);
  if (status >= 200 && status < 300 && body !== null) return body as T;
  if (status >= 400 && body !== null) throw toError(body);
  throw new IpamError('internal', `the agent's answer (status ${status}) makes no sense`, {
    details: 'Do agent and ipledgerctl have the same version?',
  });
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function toError({ reason, message, details }: Partial<ErrorBody>): IpamError {
  const more = typeof details === 'string' ? { details } : {};
  return new IpamError(isReason(reason) ? reason : 'internal', String(message ?? 'the agent gave no reason'), more);
}
