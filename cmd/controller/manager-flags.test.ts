import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addManagerFlags, readManagerFlags } from './manager-flags.ts';

const read = (...args: string[]) =>
  readManagerFlags(
    addManagerFlags(new Command().exitOverride().configureOutput({ writeErr: () => {} }))
      .parse(args, { from: 'user' })
      .opts(),
  );

test('without flags of a manager all claims are served', () => {
  expect(read()).toEqual({ claimScope: { namespace: null, watchFilter: null }, warnings: [] });
  expect(read('--namespace=').claimScope.namespace).toBeNull();
});

test('the claims of one namespace or of one watch filter', () => {
  expect(read('--namespace=prod', '--watch-filter', 'east').claimScope).toEqual({
    namespace: 'prod',
    watchFilter: 'east',
  });
});

test('every flag that the Cluster API operator may give is accepted, and said to have no effect', () => {
  const given = [
    '--leader-elect=true',
    '--leader-election-id=capi/ipledger',
    '--leader-elect-lease-duration=15s',
    '--leader-elect-renew-deadline=10s',
    '--leader-elect-retry-period=2s',
    '--health-addr=:9440',
    '--metrics-bind-addr=:8080',
    '--diagnostics-address=:8443',
    '--insecure-diagnostics',
    '--webhook-host=',
    '--webhook-port=9443',
    '--webhook-cert-dir=/certs',
    '--profiler-address=localhost:6060',
    '--sync-period=600s',
    '--max-concurrent-reconciles=10',
    '--ipaddressclaim-concurrency=10',
    '--v=5',
    '--feature-gates=A=true,B=false',
  ];
  const { warnings } = read(...given);
  expect(warnings).toHaveLength(given.length);
  for (const [at, flag] of given.entries()) expect(warnings[at]).toContain(`${flag.split('=')[0]} has no effect: `);
});

test('a flag of nobody is refused', () => {
  expect(() => read('--unknown=1')).toThrow(/unknown option/);
});
