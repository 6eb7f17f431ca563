import { FAILURES, type Failure, failure, interpret, type Outcome, type Target } from '#pkg/kube/objects/outcome.ts';
import type { LoadAccess } from '#pkg/kube/transport/connection.ts';
import type { ApiResponse, Lost, OpenStream } from '#pkg/kube/transport/exchange.ts';
import { Backoff, pauseAfter, SYSTEM_TIMING, sleep, type Timing } from '#pkg/kube/transport/timing.ts';
import { type RawRequest, TRANSPORT_LIMITS, Transport, type TransportLimits } from '#pkg/kube/transport/transport.ts';

const FORBIDDEN_FOR_MS = 3_000;
const PAUSE = { firstMs: 50, mostMs: 1_000 };

export interface CallOptions {
  /** Until the whole answer is read, including all waiting; the default is 10 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ClientOptions {
  readonly userAgent: string;
  readonly limits?: Partial<TransportLimits>;
  readonly timing?: Timing;
  readonly maxAnswerBytes?: number;
  /** The limit of one page of a list; the default is 16 MiB. */
  readonly maxPageBytes?: number;
  /** The limit of all pages of a list that is kept; the default is 512 MiB. */
  readonly maxListBytes?: number;
}

/** Bytes that several calls may read together. Each answer reduces it. */
export interface ByteBudget {
  leftBytes: number;
}

export interface ApiCall extends Target, CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly accept?: string;
  /** Use it for large answers with much repetition only, because it costs the API server CPU. */
  readonly compress?: boolean;
  readonly contentType?: string;
  readonly body?: unknown;
  /** The answer is text, not JSON. */
  readonly isText?: boolean;
  readonly budget?: ByteBudget;
}

const JSON_TYPE = 'application/json';
export const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 << 20;
const PAUSE_UNLESS_ASKED = { retryAfterMs: 1_000 };

/** Calls that are repeated only if the server certainly did not do them, which is always safe. */
export class Caller {
  readonly timing: Timing;
  readonly #transport: Transport;
  readonly #userAgent: string;
  readonly #maxBytes: number;
  readonly #pauses: AskedPauses;

  constructor(loadAccess: LoadAccess, options: ClientOptions) {
    this.timing = options.timing ?? SYSTEM_TIMING;
    this.#transport = new Transport(loadAccess, { ...TRANSPORT_LIMITS, ...options.limits });
    this.#userAgent = options.userAgent;
    this.#maxBytes = options.maxAnswerBytes ?? MAX_ANSWER_BYTES;
    this.#pauses = new AskedPauses(this.timing);
  }

  /** Waits and asks again while the server asks for that and there is time: at a 429, and a read at a 503 too. */
  async call(call: ApiCall): Promise<Outcome<unknown>> {
    const { timing } = this;
    const deadlineMs = timing.nowMs() + (call.timeoutMs ?? TIMEOUT_MS);
    const key = `${call.method === 'GET' ? 'read' : 'write'} ${call.plural}`;
    for (;;) {
      const early = this.#pauses.find(key);
      const outcome = early ?? (await this.#ask(call, deadlineMs - timing.nowMs()));
      if (outcome.ok) return outcome;
      const pauseMs = pauseAfter({ ...PAUSE_UNLESS_ASKED, ...outcome }, 0, timing.random);
      const isOver = call.signal?.aborted || timing.nowMs() + pauseMs >= deadlineMs;
      if (isOver || !mayAskAgain(call, outcome)) {
        if (early === null) this.#pauses.note(key, outcome);
        return outcome;
      }
      await sleep(timing, pauseMs, call.signal);
    }
  }

  async #ask(call: ApiCall, timeoutMs: number): Promise<Outcome<unknown>> {
    const result = await this.#transport.send(this.#rawRequest(call, timeoutMs));
    if (call.budget !== undefined) call.budget.leftBytes -= sizeOf(result);
    return interpret(result, call, call.isText);
  }

  /** An answer without an end, after its 200. */
  async open(call: ApiCall): Promise<OpenStream | Failure> {
    const result = await this.#transport.open(this.#rawRequest(call, call.timeoutMs ?? TIMEOUT_MS));
    if ('stream' in result) return result;
    const outcome = interpret(result, call);
    return outcome.ok ? failure('BadAnswer', 'an answer with an end where none was expected') : outcome;
  }

  close(): void {
    this.#transport.close();
  }

  #rawRequest(call: ApiCall, timeoutMs: number): RawRequest {
    const { method, path, signal, accept, compress, contentType, body } = call;
    const headers = {
      'user-agent': this.#userAgent,
      accept: accept ?? JSON_TYPE,
      ...(compress ? { 'accept-encoding': 'gzip' } : {}),
    };
    const maxBytes = Math.min(this.#maxBytes, call.budget?.leftBytes ?? this.#maxBytes);
    const limits = { timeoutMs, maxBytes, signal };
    if (body === undefined) return { method, path, headers, ...limits };
    const typed = { ...headers, 'content-type': contentType ?? JSON_TYPE };
    return { method, path, headers: typed, body: JSON.stringify(body), ...limits };
  }
}

/** A write that ended with a server error may have been done; its caller must look first. */
function mayAskAgain({ method }: ApiCall, { because, retryAfterMs }: Failure): boolean {
  if (because === 'TooManyRequests') return true;
  return because === 'ServerError' && method === 'GET' && retryAfterMs !== undefined;
}

function sizeOf(result: ApiResponse | Lost): number {
  return 'body' in result && typeof result.body === 'string' ? result.body.length : 0;
}

/** Beyond this only kinds that pods named as their owners can be in it. */
const MOST_KINDS = 64;

interface Pause {
  readonly untilMs: number;
  readonly message: string;
}

/**
 * Pauses that the API server asked for (Retry-After), where the call that got the answer had no time to wait. The calls that follow
 * wait for them, so a loop that repeats a failed call need not know about Retry-After.
 */
class AskedPauses {
  readonly #timing: Timing;
  readonly #pauses = new Map<string, Pause>();

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  note(key: string, { because, retryAfterMs, message }: Failure): void {
    if (retryAfterMs === undefined || !FAILURES[because].retry) return;
    if (this.#pauses.size >= MOST_KINDS) this.#pauses.clear();
    this.#pauses.set(key, { untilMs: this.#timing.nowMs() + retryAfterMs, message });
  }

  /** The failure of a call that would be too early, with what is left of the pause; null if it may be sent. */
  find(key: string): Failure | null {
    const pause = this.#pauses.get(key);
    if (pause === undefined) return null;
    const retryAfterMs = pause.untilMs - this.#timing.nowMs();
    if (retryAfterMs > 0) return { ...failure('TooManyRequests', pause.message), retryAfterMs };
    this.#pauses.delete(key);
    return null;
  }
}

/**
 * An API server that has just started answers 403 to allowed requests until its authorizer has read the roles. So a Forbidden is
 * retried for a short time, with pauses, and counts only if it lasts.
 */
export class PassingRefusals {
  readonly #forMs: number;
  #sinceMs: number | null = null;

  constructor(forMs = FORBIDDEN_FOR_MS) {
    this.#forMs = forMs;
  }

  /** Whether an attempt after the pause would still be within that time after the first refusal. */
  mayPass({ because }: Failure, nowMs: number, pauseMs: number): boolean {
    if (because !== 'Forbidden') return false;
    this.#sinceMs ??= nowMs;
    return nowMs + pauseMs < this.#sinceMs + this.#forMs;
  }
}

/** Asks once, and again only while the refusal may be temporary. */
export async function askPastRefusals<T>(
  timing: Timing,
  deadlineMs: number,
  ask: (timeoutMs: number) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const backoff = new Backoff(PAUSE, timing.random);
  const refusals = new PassingRefusals();
  for (;;) {
    const outcome = await ask(Math.max(1, deadlineMs - timing.nowMs()));
    if (outcome.ok) return outcome;
    const pauseMs = backoff.nextMs();
    const isOver = timing.nowMs() + pauseMs >= deadlineMs;
    if (isOver || !refusals.mayPass(outcome, timing.nowMs(), pauseMs)) return outcome;
    await sleep(timing, pauseMs);
  }
}
