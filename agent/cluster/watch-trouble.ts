import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Trouble } from '#pkg/kube/watch/reflector.ts';

/** Says in the log what keeps a watch from being current. */
export function logTrouble(log: Logger, watched: string): (trouble: Trouble) => void {
  return (trouble) => {
    if (trouble.during === 'event') {
      log.error({ watched, why: toIpamError(trouble.thrown).message }, 'event not used');
      return;
    }
    const { because, message } = trouble.failure;
    log.warn(
      { watched, during: trouble.during, because, why: message, retryInMs: trouble.retryInMs },
      'watch interrupted',
    );
  };
}
