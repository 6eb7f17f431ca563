import type { Logger } from 'pino';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';

/** What every duty of the leader is given. */
export interface DutyContext {
  readonly client: KubeClient;
  readonly log: Logger;
  /** Asked before each write. */
  readonly isLeader: () => boolean;
  readonly now: () => Date;
}

/** How long a duty waits that finds itself no longer leading. */
export const NOT_LEADING_MS = 2_000;

/** A write that did not come through: thrown, so that the work queue tries again. */
export class FailedWrite extends Error {
  override readonly name = 'FailedWrite';

  constructor(what: string, { because, message }: Failure) {
    super(`${what}: ${because}: ${message}`);
  }
}
