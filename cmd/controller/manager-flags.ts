import { type Command, Option } from 'commander';
import type { ClaimScope } from '#controller/claims/claim-scope.ts';

/** What a flag would set is set in another way here, or has no meaning here. */
const WITHOUT_EFFECT: readonly (readonly [name: string, why: string])[] = [
  ['leader-elect', 'one replica always leads'],
  ['leader-election-id', 'the Lease is LEADER_LEASE_NAME'],
  ['leader-elect-lease-duration', 'the pace is LEADER_DURATION'],
  ['leader-elect-renew-deadline', 'the pace is LEADER_RENEW_DEADLINE'],
  ['leader-elect-retry-period', 'the pace is LEADER_RETRY_PERIOD'],
  ['health-addr', 'health listens on HEALTH_HOST and HEALTH_PORT'],
  ['metrics-bind-addr', 'metrics listen on METRIC_HTTP_PORT'],
  ['diagnostics-address', 'metrics listen on METRIC_HTTP_PORT'],
  ['insecure-diagnostics', 'metrics are plain HTTP'],
  ['webhook-host', 'the webhook listens on --host'],
  ['webhook-port', 'the webhook listens on WEBHOOK_PORT'],
  ['webhook-cert-dir', 'its certificate is WEBHOOK_TLS_CERT_FILE and WEBHOOK_TLS_KEY_FILE'],
  ['profiler-address', 'there is no profiler'],
  ['sync-period', 'nothing is resynced'],
  ['max-concurrent-reconciles', 'claims are served as they come'],
  ['ipaddressclaim-concurrency', 'claims are served as they come'],
  ['v', 'the level is LOG_LEVEL'],
  ['feature-gates', 'there are none'],
];

/** The flags that the Cluster API operator gives to a manager when its provider object asks for them: a manager that refuses one does not start. */
export function addManagerFlags(program: Command): Command {
  program
    .option('--namespace <name>', 'serve the IPAddressClaims of this namespace only (default: of all)')
    .option('--watch-filter <value>', 'serve the IPAddressClaims with this label cluster.x-k8s.io/watch-filter only');
  for (const [name] of WITHOUT_EFFECT) program.addOption(new Option(`--${name} [value]`).hideHelp());
  return program;
}

export function readManagerFlags(flags: Readonly<Record<string, unknown>>): {
  readonly claimScope: ClaimScope;
  readonly warnings: readonly string[];
} {
  const given = WITHOUT_EFFECT.filter(([name]) => flags[toProperty(name)] !== undefined);
  const textOf = (name: string) => {
    const value = flags[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  return {
    claimScope: { namespace: textOf('namespace'), watchFilter: textOf('watchFilter') },
    warnings: given.map(([name, why]) => `the flag --${name} has no effect: ${why}`),
  };
}

function toProperty(flag: string): string {
  return flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
