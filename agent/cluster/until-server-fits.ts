import type { Logger } from 'pino';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { examineServer } from '#pkg/kube/client/examine-server.ts';
import { Backoff, pauseAfter, sleep } from '#pkg/kube/transport/timing.ts';

const PAUSE = { firstMs: 500, mostMs: 10_000 };
/** Nothing but an update of the API server helps. */
const REFUSED_PAUSE_MS = 60_000;

/** Returns when this agent may work with the API server, after its warnings were logged. `waitFor` is called with what is in the way. */
export async function untilServerFits(
  client: KubeClient,
  log: Logger,
  waitFor: (what: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { timing } = client;
  const backoff = new Backoff(PAUSE, timing.random);
  waitFor('the version of the API server has not been read yet');
  while (!signal.aborted) {
    const examined = await examineServer(client, { signal });
    if (!examined.ok) {
      await sleep(timing, pauseAfter(examined, backoff.nextMs(), timing.random), signal);
      continue;
    }
    const { version, warnings, refusal } = examined.object;
    for (const warning of warnings) log.warn({ warning }, 'API server');
    if (refusal === null) return log.info({ version }, 'API server');
    log.error({ why: refusal }, 'this API server is not supported, no address is given out');
    waitFor(refusal);
    await sleep(timing, REFUSED_PAUSE_MS * (1 + timing.random()), signal);
  }
}
