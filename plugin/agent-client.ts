import { decodeError } from '#pkg/agentapi/decode-answers.ts';
import { answerLength, decodeAnswer, encodeRequest } from '#pkg/agentapi/http.ts';
import { parseBoundedJson } from '#pkg/cni/untrusted-input.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import { type PluginCall, remainingMs, socketPath } from './call.ts';
import type { Exchange, PluginIo } from './plugin-io.ts';

const ANSWER_LIMIT_BYTES = 4 * 1024 * 1024;
const RETRY_EVERY_MS = 100;
/** The agent hears of this much less time than there is, so that it can roll back and still be heard. */
const ROLLBACK_MARGIN_MS = 1000;

interface AgentQuestion {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent with `timeoutMs` and `ageMs` added; null for a GET, whose `timeoutMs` is in its query. */
  readonly args: object | null;
  /** Whether the agent may have changed something when its answer is lost. */
  readonly isWrite: boolean;
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
 * The body of the agent's successful answer. Otherwise it throws `agent-unavailable`, `outcome-unknown` where the answer to a
 * write was lost, or `out-of-time` where no time was left to ask; an error that the agent answered is thrown as it is. A
 * write whose answer was lost is not sent again.
 */
export async function askAgent(call: PluginCall, question: AgentQuestion): Promise<string> {
  const socket = socketPath(call.io);
  const patientUntilMs = call.io.nowMs() + call.budget.patienceMs;
  for (;;) {
    const outcome = outcomeOf(await exchange(call, socket, question), question);
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

async function exchange(call: PluginCall, socket: string, question: AgentQuestion): Promise<AgentReply> {
  const { method, path, args, isWrite } = question;
  const leftMs = Math.floor(remainingMs(call));
  if (leftMs <= 0) throw new IpamError('out-of-time', 'timed out before the agent could be asked');
  const timeoutMs = Math.max(1, leftMs - ROLLBACK_MARGIN_MS);
  const ageMs = Math.ceil(call.io.nowMs() - call.startedMs);
  const body = args === null ? null : call.io.encodeUtf8(JSON.stringify({ ...args, timeoutMs, ageMs }));
  const request = encodeRequest(method, body === null ? `${path}?timeoutMs=${timeoutMs}` : path, body);
  const ended = await call.io.exchange(socket, request, ANSWER_LIMIT_BYTES, leftMs, answerLength);
  return readReply(call.io, ended, { socket, isWrite, waitedMs: leftMs, limitBytes: ANSWER_LIMIT_BYTES });
}

function outcomeOf(reply: AgentReply, { isWrite }: AgentQuestion): Outcome {
  if (reply.kind === 'answer') return outcomeOfAnswer(reply.status, reply.text);
  const mayAskAgain = reply.kind === 'away' || (reply.kind === 'dropped' && !isWrite);
  return { kind: mayAskAgain ? 'not-yet' : 'failure', error: reply.error };
}

function outcomeOfAnswer(status: number, text: string): Outcome {
  if (status < 300) return { kind: 'success', text };
  const error = decodeError(status, text);
  return { kind: isUnserved(error) ? 'not-yet' : 'failure', error };
}

type AgentReply =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** Nothing was sent. */
  | { readonly kind: 'away'; readonly error: IpamError }
  | LostReply;

/** The agent may have acted, and its answer is not known. `dropped`: it closed the connection without an answer. */
interface LostReply {
  readonly kind: 'dropped' | 'lost';
  readonly error: IpamError;
}

interface Circumstances {
  readonly socket: string;
  readonly isWrite: boolean;
  readonly waitedMs: number;
  readonly limitBytes: number;
}

/** What the end of an exchange means to a person: each way has its own words, because each has another cure. */
function readReply(io: PluginIo, ended: Exchange, about: Circumstances): AgentReply {
  switch (ended.kind) {
    case 'answer':
      return readAnswer(io, ended.bytes, about);
    case 'absent':
      return { kind: 'away', error: absence(ended.why, about.socket) };
    case 'timeout':
      return unheard(
        about,
        `the agent did not answer within ${Math.round(about.waitedMs / 1000)} s`,
        `It accepted the connection on ${about.socket}.`,
      );
    case 'dropped':
      return {
        ...unheard(
          about,
          'the agent closed the connection without an answer',
          'It may have been stopped during the call: see its log.',
        ),
        kind: 'dropped',
      };
    case 'oversized':
      return lost(
        `the agent's answer is larger than ${about.limitBytes} bytes`,
        `Is it ipledger-agent that listens on ${about.socket}?`,
      );
    case 'failed':
      return lost(`the agent cannot be reached on ${about.socket}`, ended.why);
  }
}

function readAnswer(io: PluginIo, bytes: Uint8Array, about: Circumstances): AgentReply {
  const { socket } = about;
  const answer = decodeAnswer(bytes);
  if (answer.kind === 'truncated') return unheard(about, "the agent's answer was cut off", `${answer.why}.`);
  if (answer.kind === 'junk') return notOurs(answer.why, socket);
  const text = io.decodeUtf8(answer.body);
  return text === null ? notOurs('it is not UTF-8', socket) : { kind: 'answer', status: answer.status, text };
}

function absence(why: 'missing' | 'refused' | 'busy', socket: string): IpamError {
  const words = {
    missing: `the agent is not running: there is no socket ${socket}`,
    refused: `the agent is not running: no process listens on ${socket}`,
    busy: `the agent accepts no connection: the queue of ${socket} is full`,
  };
  return unavailable(words[why], 'Is ipledger-agent running on this node?');
}

function notOurs(why: string, socket: string): AgentReply {
  return lost(`the agent's answer cannot be read: ${why}`, `Is it ipledger-agent that listens on ${socket}?`);
}

/** The agent has the request. Whether it made the change that a write asks for is not known. */
function unheard({ isWrite }: Circumstances, message: string, details: string): LostReply {
  const reason = isWrite ? 'outcome-unknown' : 'agent-unavailable';
  return { kind: 'lost', error: new IpamError(reason, message, { details }) };
}

function lost(message: string, details: string): LostReply {
  return { kind: 'lost', error: unavailable(message, details) };
}

function unavailable(message: string, details: string): IpamError {
  return new IpamError('agent-unavailable', message, { details });
}

/** A successful answer that cannot be used is a fault between our two programs, not of the caller. */
export function decodeAnswerBody<Body>(text: string, decode: (body: unknown) => Body): Body {
  try {
    return decode(parseBoundedJson(text, 'it', 'bad-input'));
  } catch (thrown) {
    const { message, details } = toIpamError(thrown);
    throw new IpamError('internal', `the agent's answer cannot be used: ${message}`, { details, cause: thrown });
  }
}
