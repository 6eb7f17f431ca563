import { parseArgs } from 'node:util';
import { startStandaloneAgent } from '#agent/compose/standalone-agent.ts';
import { createLogger } from '#pkg/log/logger.ts';
import { NO_PROBING } from './memory-agent.ts';

/** The real standalone agent, killed the first time it reaches the named failpoint. */
const { values } = parseArgs({
  options: {
    pools: { type: 'string', default: '' },
    data: { type: 'string', default: '' },
    socket: { type: 'string', default: '' },
    spool: { type: 'string', default: '' },
    step: { type: 'string', default: '' },
  },
});

await startStandaloneAgent(
  {
    poolsDirectory: values.pools,
    dataDirectory: values.data,
    socketPath: values.socket,
    spoolDirectory: values.spool,
    node: 'crashing',
    exhaustedWaitMs: 0,
    collectAfterMs: 60_000,
    probeSettings: NO_PROBING,
  },
  createLogger('crashing-agent', 'info'),
  (step) => {
    if (step === values.step) process.kill(process.pid, 'SIGKILL');
  },
);
