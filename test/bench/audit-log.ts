import { open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request of one of ipledger's daemons, as the API server logged it. */
export interface AuditedRequest {
  /** `ipledger-agent` or `ipledger-controller`: the user agent without the node. */
  readonly daemon: string;
  /** Verb, resource and code: `create iprecords 201`. */
  readonly call: string;
  /** From its arrival at the API server to the end of its answer. */
  readonly tookMs: number;
}

const LOOK_EVERY_MS = 500;
const QUIET_MS = 3_000;
/** What daemons ask for because pods come and go. The rest is asked for in any case: Leases, certificates, nodes, discovery. */
const OF_PODS = /^\w+ (iprecords|pods|events|spiderendpoints|spiderippools|spidersubnets)(\/\w+)? /;

/** Where the log ends now. */
export async function endOfLog(file: string): Promise<number> {
  return (await stat(file)).size;
}

/** The requests that were logged since; watches are no requests. */
export async function requestsSince(file: string, position: number): Promise<AuditedRequest[]> {
  await using handle = await open(file);
  const chunks: Buffer[] = [];
  for await (const chunk of handle.createReadStream({ start: position, autoClose: false })) chunks.push(chunk);
  return readAudited(Buffer.concat(chunks).toString());
}

/** Resolves when the daemons have had nothing to ask for pods for a while. */
export async function untilQuiet(file: string): Promise<void> {
  for (let quietSinceMs = performance.now(); performance.now() - quietSinceMs < QUIET_MS; ) {
    const position = await endOfLog(file);
    await sleep(LOOK_EVERY_MS);
    if ((await requestsSince(file, position)).some(isOfPods)) quietSinceMs = performance.now();
  }
}

export const isOfPods = ({ call }: AuditedRequest): boolean => OF_PODS.test(call);

interface AuditEvent {
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** The last line may not be whole yet. */
export function readAudited(text: string): AuditedRequest[] {
  const lines = text.split('\n').slice(0, -1);
  return lines
    .map((line): AuditEvent => JSON.parse(line))
    .flatMap((event) => (event.verb === 'watch' ? [] : toRequest(event)));
}

function toRequest(event: AuditEvent): AuditedRequest {
  const {
    verb,
    userAgent = '',
    objectRef: { resource = '', subresource } = {},
    responseStatus: { code = 0 } = {},
  } = event;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return {
    daemon: userAgent.replace(/\/.*/, ''),
    call: `${verb} ${what} ${code}`,
    tookMs: (microseconds(event.stageTimestamp) - microseconds(event.requestReceivedTimestamp)) / 1_000,
  };
}

/** `2026-01-02T03:04:05.678901Z`; a Date has no more than milliseconds. */
function microseconds(text: string): number {
  return Date.parse(text) * 1_000 + Number(/\.\d{3}(\d{3})/.exec(text)?.[1] ?? 0);
}

/** How often each call was made by a daemon, the most frequent first. */
export function countCalls(requests: readonly AuditedRequest[], daemon: string): ReadonlyMap<string, number> {
  const calls = requests.filter((it) => it.daemon === daemon).map(({ call }) => call);
  const counted = Map.groupBy(calls, (call) => call);
  return new Map([...counted].map(([call, all]) => [call, all.length] as const).toSorted(([, a], [, b]) => b - a));
}
