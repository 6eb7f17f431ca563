import type { ControllerProgram } from '#test/integration/controller-program.ts';
import type { Line } from './report.ts';

export const LIMIT_STALL_MS = 50;
/** The setting of a controller that measures its stalls. */
export const WITH_STALLS = { IPLEDGER_ENABLED_DEBUG_METRIC: 'true' };

/** Since the last scrape, as the controller measured it (perf_hooks.monitorEventLoopDelay, which counts its own 10 ms too). */
export async function longestStallMs(controller: ControllerProgram): Promise<number> {
  const [, seconds = 'NaN'] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await controller.metrics()) ?? [];
  return Number(seconds) * 1_000;
}

/** The row of a benchmark whose controller was not scraped before. */
export async function stallLine(controller: ControllerProgram): Promise<Line> {
  return stallLineOf(await longestStallMs(controller));
}

export function stallLineOf(longest: number): Line {
  return {
    what: 'the longest stall of the controller',
    value: `${longest.toFixed(0)} ms`,
    limit: `under ${LIMIT_STALL_MS} ms`,
    isMet: longest < LIMIT_STALL_MS,
  };
}
