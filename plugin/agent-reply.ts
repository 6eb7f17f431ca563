import { decodeAnswer } from '#pkg/agentapi/http-answer.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Exchange, PluginIo } from './plugin-io.ts';

export type AgentReply =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** Nothing was sent. */
  | { readonly kind: 'away'; readonly error: IpamError }
  /** The agent may have acted, and what it said is not known. */
  | { readonly kind: 'lost'; readonly error: IpamError };

export interface Circumstances {
  readonly socket: string;
  readonly waitedMs: number;
  readonly limitBytes: number;
}

/** What the end of an exchange means to a person: each way has its own words, because each has another cure. */
export function readReply(io: PluginIo, ended: Exchange, about: Circumstances): AgentReply {
  switch (ended.kind) {
    case 'answer':
      return readAnswer(io, ended.bytes, about);
    case 'absent':
      return { kind: 'away', error: absence(ended.why, about.socket) };
    case 'timeout':
      return lost(
        `the agent did not answer within ${Math.round(about.waitedMs / 1000)} s`,
        `It accepted the connection on ${about.socket}.`,
      );
    case 'dropped':
      return lost(
        'the agent closed the connection without an answer',
        'It may have been stopped in the middle of the call; its log knows.',
      );
    case 'oversized':
      return lost(
        `the agent's answer is larger than ${about.limitBytes} bytes`,
        `Is it ipledger-agent that listens on ${about.socket}?`,
      );
    case 'failed':
      return lost(`the agent cannot be reached on ${about.socket}`, ended.why);
  }
}

function readAnswer(io: PluginIo, bytes: Uint8Array, { socket }: Circumstances): AgentReply {
  const answer = decodeAnswer(bytes);
  if (answer.kind === 'truncated') return lost("the agent's answer was cut off", `${answer.why}.`);
  if (answer.kind === 'junk') return notOurs(answer.why, socket);
  const text = io.decodeUtf8(answer.body);
  return text === null ? notOurs('it is not UTF-8', socket) : { kind: 'answer', status: answer.status, text };
}

function absence(why: 'missing' | 'refused' | 'busy', socket: string): IpamError {
  const words = {
    missing: `the agent is not running: there is no socket ${socket}`,
    refused: `the agent is not running: nobody listens on ${socket}`,
    busy: `the agent accepts no connection: the queue of ${socket} is full`,
  };
  return new IpamError('agent-unavailable', words[why], { details: 'Is ipledger-agent running on this node?' });
}

function notOurs(why: string, socket: string): AgentReply {
  return lost(`the agent's answer makes no sense: ${why}`, `Is it ipledger-agent that listens on ${socket}?`);
}

function lost(message: string, details: string): AgentReply {
  return { kind: 'lost', error: new IpamError('agent-unavailable', message, { details }) };
}
