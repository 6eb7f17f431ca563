import { decodeError } from '#pkg/agentapi/decode-error.ts';
import { answerLength } from '#pkg/agentapi/http-answer.ts';
import { encodeRequest } from '#pkg/agentapi/http-request.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import { type AgentReply, readReply } from './agent-reply.ts';
import { type PluginCall, remainingMs } from './call.ts';
import { socketPath } from './host-paths.ts';

const ANSWER_LIMIT_BYTES = 4 * 1024 * 1024;
const RETRY_EVERY_MS = 100;
/** The agent hears of this much less time than there is, so that it can roll back and still be heard. */
const ROLLBACK_MARGIN_MS = 1000;

export interface AgentQuestion {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent with `timeoutMs` and `ageMs` added; null for none. */
  readonly args: object | null;
}

/** Nothing is wrong with the request itself: the same one may be served later. */
const UNSERVED: readonly Reason[] = [
  'agent-unavailable',
  'api-server-unavailable',
  'outcome-unknown',
  'out-of-time',
  'caller-gone',
];

export function isUnserved({ reason }: IpamError): boolean {
  return UNSERVED.includes(reason);
}

/**
 * The body of the agent's successful answer. Every way of asking in vain is `agent-unavailable`, each in its own words,
 * and `out-of-time` where no time was left to ask; an error that the agent answered is thrown as it is. A request whose
 * answer was lost is not sent again.
 */
export async function askAgent(call: PluginCall, question: AgentQuestion): Promise<string> {
  const socket = socketPath(call.io);
  const patientUntilMs = call.io.nowMs() + call.budget.patienceMs;
  for (;;) {
    const outcome = outcomeOf(await exchange(call, socket, question));
    if (outcome.kind === 'success') return outcome.text;
    const restMs = Math.min(patientUntilMs - call.io.nowMs(), remainingMs(call));
    if (outcome.kind === 'failure' || restMs <= RETRY_EVERY_MS) throw outcome.error;
    await call.io.sleep(RETRY_EVERY_MS);
  }
}

type Outcome =
  | { readonly kind: 'success'; readonly text: string }
  /**
   * The request was not sent, or the agent answered that it was not served. It may be sent again, even where the outcome
   * of a write is unknown: the agent keeps that record in its journal and looks for it before it takes another address.
   */
  | { readonly kind: 'not-yet'; readonly error: IpamError }
  | { readonly kind: 'failure'; readonly error: IpamError };

async function exchange(call: PluginCall, socket: string, { method, path, args }: AgentQuestion): Promise<AgentReply> {
  const leftMs = Math.floor(remainingMs(call));
  if (leftMs <= 0) throw new IpamError('out-of-time', 'timed out before the agent could be asked');
  const timeoutMs = Math.max(1, leftMs - ROLLBACK_MARGIN_MS);
  const ageMs = Math.ceil(call.io.nowMs() - call.startedMs);
  const body = args === null ? null : call.io.encodeUtf8(JSON.stringify({ ...args, timeoutMs, ageMs }));
  const request = encodeRequest(method, path, body);
  const ended = await call.io.exchange(socket, request, ANSWER_LIMIT_BYTES, leftMs, answerLength);
  return readReply(call.io, ended, { socket, waitedMs: leftMs, limitBytes: ANSWER_LIMIT_BYTES });
}

function outcomeOf(reply: AgentReply): Outcome {
  if (reply.kind === 'away') return { kind: 'not-yet', error: reply.error };
  if (reply.kind === 'lost') return { kind: 'failure', error: reply.error };
  if (reply.status < 300) return { kind: 'success', text: reply.text };
  const error = decodeError(reply.status, reply.text);
  return { kind: isUnserved(error) ? 'not-yet' : 'failure', error };
}
