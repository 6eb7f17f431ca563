import { expect, test } from 'vitest';
import { MONITORS } from '#test/house/monitors.ts';
import { jobsIn } from '#test/house/promql.ts';
import { readRootFile } from '#test/house/source-files.ts';
import { type Prometheus, startPrometheus } from '#test/real-cluster/prometheus.ts';
import { openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment } from './workloads.ts';

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly type: string; readonly query: string }[] };
}

interface Rule {
  readonly name: string;
  readonly query: string;
  readonly health: string;
  readonly state: 'inactive' | 'pending' | 'firing';
  readonly lastError?: string;
  readonly alerts: readonly { readonly labels: Readonly<Record<string, string>> }[];
}

const dashboard = JSON.parse(readRootFile('deploy/grafana-ipledger.json')) as Dashboard;
const SUBNETS = '/apis/spiderpool.spidernet.io/v2beta1/spidersubnets';

test('every query of the dashboard and of the alerts finds what the daemons export', async () => {
  await using stage = await openStage('monitored', ['10.88.40.1-10.88.40.3']);
  await stage.kube.create(SUBNETS, {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    metadata: { name: 'monitored' },
    spec: { subnet: '10.90.0.0/24', ips: ['10.90.0.10-10.90.0.20'] },
  });
  await using _ = { [Symbol.asyncDispose]: () => stage.kube.remove(`${SUBNETS}/monitored`) };
  await using prometheus = await startPrometheus(stage.cluster, MONITORS);
  await until('all agents and controllers are scraped', async () => {
    const series = await query(prometheus, 'up == 1');
    const jobs = series.map(({ metric }) => metric['job']).toSorted();
    return jobs.length === 5 && jobs.join() === `${'ipledger-agent,'.repeat(3)}ipledger-controller,ipledger-controller`;
  });
  // One pod too many.
  await stage.kube.create(stage.path('deployments'), deployment('web', 4));
  await stage.event('IPPoolExhausted');

  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(20);
  for (const expr of expressions) {
    const answer = () => query(prometheus, expr.replaceAll('$pool', '.*'));
    await until(`data for ${expr}`, async () => (await answer()).length > 0);
  }
  for (const { query: asked } of dashboard.templating.list.filter(({ type }) => type === 'query')) {
    const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(asked) ?? [];
    const [values] = await prometheus.ask(`label/${label}/values?match[]=${metric}`);
    expect(values).toContain('monitored');
  }

  const rules = () => readRules(prometheus);
  await until('the alert of the full pool is on its way', async () => {
    const exhausted = (await rules()).find(({ name }) => name === 'IpledgerPoolExhausted');
    return exhausted?.alerts.some(({ labels }) => labels['SpiderIPPool'] === 'monitored');
  });
  for (const rule of await rules()) {
    expect(rule).toMatchObject({ health: 'ok' });
    for (const { metric, job } of jobsIn(rule.query)) {
      const found = await query(prometheus, `{__name__=~"${metric}(_total)?", job="${job}"}`);
      expect([rule.name, metric, found.length > 0]).toEqual([rule.name, metric, true]);
    }
  }
  // They say that something is missing, and nothing is.
  const absences = (await rules()).filter(({ query: asked }) => /\babsent\b|\bup\{/.test(asked));
  expect(absences.map(({ name, state }) => `${name} ${state}`).toSorted()).toEqual([
    'IpledgerAgentUnreachable inactive',
    'IpledgerAgentsAbsent inactive',
    'IpledgerControllerAbsent inactive',
    'IpledgerManyAgentsNotReady inactive',
  ]);
});

async function query(
  prometheus: Prometheus,
  expr: string,
): Promise<readonly { readonly metric: Readonly<Record<string, string>> }[]> {
  const [data] = await prometheus.ask(`query?query=${encodeURIComponent(expr)}`);
  return (data as { result: { metric: Record<string, string> }[] }).result;
}

async function readRules(prometheus: Prometheus): Promise<readonly Rule[]> {
  const [data] = await prometheus.ask('rules');
  return (data as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);
}
