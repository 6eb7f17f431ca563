import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALERTS, RULE_GROUPS } from '#test/house/monitors.ts';
import { findDebianPrograms } from '#test/support/debian-programs.ts';
import { runProgram } from '#test/support/run-program.ts';

/** What Prometheus scraped, minute after minute: a series, and its values in the notation of promtool. */
type Series = Readonly<Record<string, string>>;

const AGENT = 'job="ipledger-agent", node="worker-1", pod="ipledger-agent-x"';
const CONTROLLER = 'job="ipledger-controller", pod="ipledger-controller-x"';
const pool = (metric: string, more = '') => `${metric}{${CONTROLLER}, pool="lab"${more}}`;
const total = `spiderpool_debug_ippool_total_ip_counts{${CONTROLLER}, SpiderIPPool="lab"}`;
const available = `spiderpool_debug_ippool_available_ip_counts{${CONTROLLER}, SpiderIPPool="lab"}`;
const records = (state: string) => pool('ipledger_pool_records', `, state="${state}"`);
const failures = `spiderpool_ipam_allocation_failure_counts_total{${AGENT}}`;
const calls = `spiderpool_ipam_allocation_counts_total{${AGENT}}`;
const collected = `spiderpool_ip_gc_failure_counts_total{${CONTROLLER}}`;
const ready = (node: number) => `ipledger_agent_ready{job="ipledger-agent", node="worker-${node}"}`;
const up = (node: number) => `up{job="ipledger-agent", node="worker-${node}"}`;

interface Case {
  /** Minutes until it fires, all of them with the trouble. */
  readonly after: number;
  readonly bad: Series;
  readonly good: Series;
}

const HOURS = 'x200';
const CASES: Readonly<Record<string, Case>> = {
  IpledgerPoolExhausted: {
    after: 5,
    bad: { [total]: `10${HOURS}`, [available]: `0${HOURS}` },
    // A pool without ranges has no address to give out, and nothing is wrong.
    good: { [total]: `0${HOURS}`, [available]: `0${HOURS}` },
  },
  IpledgerPoolNearlyExhausted: {
    after: 15,
    bad: { [total]: `100${HOURS}`, [available]: `9${HOURS}` },
    good: { [total]: `100${HOURS}`, [available]: `10${HOURS}` },
  },
  IpledgerPoolOverlaps: {
    after: 1,
    bad: { [pool('ipledger_pool_ready', ', reason="Overlap"')]: `0${HOURS}` },
    good: { [pool('ipledger_pool_ready', ', reason="Ready"')]: `1${HOURS}` },
  },
  IpledgerPoolShrunkBelowUse: {
    after: 10,
    bad: { [pool('ipledger_pool_outside_records')]: `1${HOURS}` },
    good: { [pool('ipledger_pool_outside_records')]: `0${HOURS}` },
  },
  IpledgerPoolStuckTerminating: {
    after: 60,
    bad: { [pool('ipledger_pool_ready', ', reason="Terminating"')]: `0${HOURS}` },
    good: { [pool('ipledger_pool_ready', ', reason="Terminating"')]: `0x50 _${HOURS}` },
  },
  IpledgerForeignHosts: {
    after: 1,
    bad: { [records('Quarantined')]: `1${HOURS}` },
    good: { [records('Quarantined')]: `0${HOURS}` },
  },
  IpledgerManyForeignHosts: {
    after: 10,
    bad: { [records('Quarantined')]: `11${HOURS}` },
    good: { [records('Quarantined')]: `10${HOURS}` },
  },
  IpledgerManySuspects: {
    after: 30,
    bad: { [records('Suspect')]: `11${HOURS}` },
    good: { [records('Suspect')]: `10${HOURS}` },
  },
  IpledgerAgentNotReady: { after: 10, bad: { [ready(1)]: `0${HOURS}` }, good: { [ready(1)]: `1${HOURS}` } },
  IpledgerAgentUnreachable: { after: 10, bad: { [up(1)]: `0${HOURS}` }, good: { [up(1)]: `1${HOURS}` } },
  IpledgerManyAgentsNotReady: {
    after: 10,
    // An agent that cannot be reached has no gauge.
    bad: { [up(1)]: `0${HOURS}`, [up(2)]: `1${HOURS}`, [ready(2)]: `0${HOURS}` },
    good: { [up(1)]: `1${HOURS}`, [ready(1)]: `1${HOURS}` },
  },
  IpledgerAgentsAbsent: { after: 10, bad: {}, good: { [up(1)]: `0${HOURS}` } },
  IpledgerReleasesWait: {
    after: 30,
    bad: { [`ipledger_journal_entries{${AGENT}}`]: `2${HOURS}` },
    good: { [`ipledger_journal_entries{${AGENT}}`]: `0${HOURS}` },
  },
  IpledgerAddressInUseTwice: {
    after: 1,
    bad: { [`ipledger_lost_addresses{${AGENT}}`]: `1${HOURS}` },
    good: { [`ipledger_lost_addresses{${AGENT}}`]: `0${HOURS}` },
  },
  IpledgerSandboxOutlivesPod: {
    after: 10,
    bad: { [`ipledger_outliving_sandboxes{${AGENT}}`]: `1${HOURS}` },
    good: { [`ipledger_outliving_sandboxes{${AGENT}}`]: `0${HOURS}` },
  },
  IpledgerAllocationsFail: {
    after: 10,
    bad: { [calls]: `0+100${HOURS}`, [failures]: `0+11${HOURS}` },
    good: { [calls]: `0+100${HOURS}`, [failures]: `0+9${HOURS}` },
  },
  IpledgerCollectionFails: {
    after: 30,
    bad: { [collected]: `0+1${HOURS}` },
    good: { [collected]: `5${HOURS}` },
  },
  IpledgerControllerAbsent: {
    after: 5,
    bad: {},
    good: { [`spiderpool_total_ippool_counts{${CONTROLLER}}`]: `0${HOURS}` },
  },
};
/** The first evaluations see too little of a rate to say anything. */
const WARM_UP = 3;
const LONG = 180;

let dir: string;
let promtool: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ipl-alerts-'));
  promtool = join(await findDebianPrograms(), 'promtool');
  await writeFile(join(dir, 'rules.json'), JSON.stringify({ groups: RULE_GROUPS }));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('Prometheus finds no mistake in the rules', async () => {
  const { code, stdout, stderr } = await runProgram(promtool, [
    'check',
    'rules',
    '--lint-fatal',
    join(dir, 'rules.json'),
  ]);
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining(`${ALERTS.length} rules found`)]);
});

test('every alert has a case below', () => {
  expect(Object.keys(CASES).sort()).toEqual(ALERTS.map(({ alert }) => alert).sort());
});

test.each(Object.entries(CASES))(
  '%s fires when its trouble lasts, not before, and not without it',
  async (name, it) => {
    const firing = await firingAt(name, it.bad, [it.after - 1, it.after + WARM_UP, LONG]);
    expect(firing).toEqual([false, true, true]);
    expect(await firingAt(name, it.good, [it.after + WARM_UP, LONG])).toEqual([false, false]);
  },
);

/** Whether the alert fires at these minutes. */
async function firingAt(name: string, series: Series, minutes: readonly number[]): Promise<boolean[]> {
  const quiet = { 'ipledger_nothing{}': `0${HOURS}` };
  const input_series = Object.entries({ ...quiet, ...series }).map(([key, values]) => ({ series: key, values }));
  const askWhetherSilent = async (minute: number) => {
    const alert_rule_test = [{ eval_time: `${minute}m`, alertname: name, exp_alerts: [] }];
    const file = join(dir, `${name}-${minute}.json`);
    const tests = [{ interval: '1m', input_series, alert_rule_test }];
    await writeFile(file, JSON.stringify({ rule_files: ['rules.json'], evaluation_interval: '1m', tests }));
    const { code, stdout, stderr } = await runProgram(promtool, ['test', 'rules', file]);
    const said = `${stdout}${stderr}`;
    if (code === 0) return true;
    // promtool prints the alerts that it got, with their labels and texts.
    if (!said.includes(`alertname="${name}"`)) throw new Error(said);
    if (/<no value>|error expanding/.test(said)) throw new Error(said);
    return false;
  };
  return await Promise.all(minutes.map(async (minute) => !(await askWhetherSilent(minute))));
}
