import { Command } from 'commander';
import { CollectCounts } from '#controller/collect/collect-metrics.ts';
import { collectorDuty } from '#controller/collect/collector.ts';
import { Controller } from '#controller/controller.ts';
import { type ControllerEnv, readControllerEnv } from '#controller/controller-env.ts';
import { logEvents } from '#controller/events.ts';
import { buildHealthServer } from '#controller/health.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { KubeClient } from '#pkg/kube/client.ts';
import { accessFrom } from '#pkg/kube/kube-config.ts';
import { SYSTEM_TIMING } from '#pkg/kube/timing.ts';
import { createLogger } from '#pkg/log/logger.ts';

interface Flags {
  readonly kubeconfig?: string;
  readonly healthHost: string;
  readonly dryRun: boolean;
}

const program = new Command('ipledger-controller')
  .description(
    'The cluster daemon of ipledger. One of its replicas leads: it brings leaked addresses back. Settings are environment variables, see docs/collection.md.',
  )
  .option('--kubeconfig <file>', 'how to reach the API server; inside a pod its service account is used')
  .option('--health-host <address>', 'where the health port listens', '::')
  .option('--dry-run', 'log and count what collection would do, and change nothing', false);

await main(program.parse().opts<Flags>());

async function main(flags: Flags): Promise<void> {
  const log = createLogger('ipledger-controller', 'info');
  try {
    const env = readControllerEnv(process.env);
    log.level = env.logLevel;
    await using stack = new AsyncDisposableStack();
    await start(flags, env, stack, log);
    const signal = await nextSignal();
    log.info({ signal }, 'controller stops');
  } catch (thrown) {
    const { reason, message, details } = toIpamError(thrown);
    log.fatal({ reason, details, ...(reason === 'internal' ? { err: thrown } : {}) }, message);
    process.exitCode = 1;
  }
}

async function start(
  { kubeconfig, healthHost, dryRun }: Flags,
  env: ControllerEnv,
  stack: AsyncDisposableStack,
  log: ReturnType<typeof createLogger>,
): Promise<void> {
  const loadAccess = accessFrom(
    kubeconfig === undefined ? { from: 'cluster' } : { from: 'kubeconfig', file: kubeconfig },
  );
  const client = stack.use(new KubeClient(loadAccess, { userAgent: 'ipledger-controller' }));
  const timing = SYSTEM_TIMING;
  const now = () => new Date();
  const settings = { ...env.collect, isDryRun: env.collect.isDryRun || dryRun };
  const collect = collectorDuty({
    client,
    settings,
    metrics: new CollectCounts(),
    events: logEvents(log),
    log,
    timing,
    now,
  });
  const controller = stack.use(new Controller(env, { client, duties: [collect], log, timing, now }));
  const health = buildHealthServer(controller);
  stack.defer(() => health.close());
  try {
    await health.listen({ host: healthHost, port: env.healthPort });
  } catch (thrown) {
    throw new IpamError('bad-config', `cannot serve health on port ${env.healthPort}: ${toIpamError(thrown).message}`);
  }
  log.info(
    { health: env.healthPort, identity: env.podName, isDryRun: settings.isDryRun },
    'controller stands for election',
  );
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}
