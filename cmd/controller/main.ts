import { Command } from 'commander';
import { readControllerEnv } from '#controller/controller-env.ts';
import { startController } from '#controller/start-controller.ts';
import { readConfigFile } from '#pkg/config/read-config-file.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { accessFrom } from '#pkg/kube/client/kube-config.ts';
import { heapLimitMb } from '#pkg/log/heap-limit.ts';
import { createLogger } from '#pkg/log/logger.ts';
import { VERSION } from '#pkg/text/version.ts';
import { addManagerFlags, readManagerFlags } from './manager-flags.ts';

interface Flags {
  readonly config: string;
  readonly kubeconfig?: string;
  readonly host?: string;
  readonly webhook: boolean;
  readonly dryRun: boolean;
}

const command = new Command('ipledger-controller')
  .version(VERSION)
  .description(
    'The cluster daemon of ipledger. Every replica judges new pools; one of them leads: it brings leaked addresses back and keeps status and endpoints equal to the records. Settings are conf.yml and environment variables, see docs/collection.md.',
  )
  .option('--config <file>', 'conf.yml of the cluster (ConfigMap spiderpool-conf)', '/etc/ipledger/conf.yml')
  .option('--kubeconfig <file>', 'how to reach the API server (default: the service account of the pod)')
  .option(
    '--host <address>',
    'where metrics and webhook listen (default: all addresses); health: SPIDERPOOL_HEALTH_HOST',
  )
  .option('--no-webhook', 'serve no admission: pools are judged by their CRDs alone')
  .option('--dry-run', 'collect nothing, and log and count what would be collected', false);

const program = addManagerFlags(command).parse();
await main(program.opts<Flags>());

async function main(flags: Flags): Promise<void> {
  const log = createLogger('ipledger-controller', 'info');
  try {
    const { env, warnings: ofVariables } = readControllerEnv(process.env);
    log.level = env.logLevel;
    log.info({ heapMb: heapLimitMb() }, 'controller starting');
    const { config, warnings: ofFile } = await readConfigFile(flags.config);
    for (const warning of [...ofVariables, ...ofFile]) log.warn({ warning }, 'configuration');
    const { claimScope, warnings: ofFlags } = readManagerFlags(program.opts());
    for (const warning of ofFlags) log.warn({ warning }, 'flags');
    const collect = { ...env.collect, isDryRun: env.collect.isDryRun || flags.dryRun };
    const { kubeconfig: file, host, webhook: servesWebhook } = flags;
    const loadAccess = accessFrom(file === undefined ? { from: 'cluster' } : { from: 'kubeconfig', file });
    const at = host === undefined ? {} : { host };
    const setting = { config, env: { ...env, collect }, loadAccess, servesWebhook, claimScope, ...at };
    await using _controller = await startController(setting, log);
    const signal = await nextSignal();
    log.info({ signal }, 'controller stopping');
  } catch (thrown) {
    const { reason, message, details } = toIpamError(thrown);
    log.fatal({ reason, details, ...(reason === 'internal' ? { err: thrown } : {}) }, message);
    process.exitCode = 1;
  }
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}
