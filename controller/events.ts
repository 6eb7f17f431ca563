import type { Logger } from 'pino';

/** What an operator must know, told where they look: as an Event on an object. */
export interface Told {
  readonly regarding: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for machines. */
  readonly reason: string;
  readonly note: string;
}

export interface Events {
  tell(event: Told): void;
}

/** For a process that has no way to write Events. */
export function logEvents(log: Logger): Events {
  return {
    tell: ({ regarding, type, reason, note }) =>
      log[type === 'Warning' ? 'warn' : 'info']({ regarding, reason, note }, 'told'),
  };
}
