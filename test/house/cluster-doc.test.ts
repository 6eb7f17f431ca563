import { expect, test } from 'vitest';
import { AGENT_ENV } from '#agent/compose/agent-env.ts';
import { FAILED_ADD_EVENTS } from '#agent/report/agent-events.ts';
import { WATCHED_GAUGES } from '#agent/report/agent-metrics.ts';
import { exportAgentMetrics } from '#agent/report/exported-metrics.ts';
import { ALIASES, CONFIG_KEYS } from '#pkg/config/config-keys.ts';
import { UNUSED_KEYS } from '#pkg/config/unused-keys.ts';
import { MetricSet } from '#pkg/metrics/metric-set.ts';
import { readRootFile } from './source-files.ts';

const page = readRootFile('docs/cluster.md');

/** The rows of the table under a heading, without the backquotes of their cells. */
function rowsUnder(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  const cells = (line: string) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replace(/^`(.*)`$/, '$1'));
  return lines.filter((line) => line.startsWith('| `')).map(cells);
}

/** `{a,b}_x` is `a_x` and `b_x`. */
function expand(name: string): string[] {
  const [, before = '', choices = '', after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  return choices === '' ? [name] : choices.split(',').flatMap((choice) => expand(before + choice + after));
}

test('the page has every key of conf.yml with its default, in order', () => {
  const documented = rowsUnder('Settings: conf.yml').map(([key, fallback]) => [key, fallback]);
  expect(documented).toEqual(Object.entries(CONFIG_KEYS).map(([key, { fallback }]) => [key, String(fallback)]));
});

test('values outside of the range in the table are refused', () => {
  for (const [key = '', , allowed = ''] of rowsUnder('Settings: conf.yml')) {
    const { read } = CONFIG_KEYS[key as keyof typeof CONFIG_KEYS];
    const [, lowest, highest] = /^(\d+) to (\d+)$/.exec(allowed) ?? [];
    if (lowest === undefined || highest === undefined) continue;
    for (const inside of [lowest, highest]) expect(read(Number(inside), key)).toBe(Number(inside));
    for (const outside of [Number(lowest) - 1, Number(highest) + 1]) expect(() => read(outside, key)).toThrow(key);
  }
});

test('the page names other spellings and keys without effect', () => {
  const names = [...Object.keys(ALIASES), ...Object.keys(UNUSED_KEYS)];
  expect(names.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});

test('the page has every variable with its default, in order', () => {
  expect(rowsUnder('Settings: environment').map(([name, fallback]) => [name, fallback])).toEqual(
    Object.entries(AGENT_ENV),
  );
});

test('the page has every metric with its type, and no other', async () => {
  const set = new MetricSet();
  const metrics = exportAgentMetrics(set);
  for (const gauge of WATCHED_GAUGES) metrics.watch(gauge, () => 0);
  const exported = [...(await set.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
  const documented = rowsUnder('Metrics').flatMap(([name = '', type]) => expand(name).map((it) => `${it} ${type}`));
  expect(documented.toSorted()).toEqual(exported.toSorted());
});

test('the page has every Event with the error that causes it', () => {
  const documented = rowsUnder('Events').map(([reason, , error]) => [error, reason]);
  expect(documented.toSorted()).toEqual(Object.entries(FAILED_ADD_EVENTS).toSorted());
});

test('the command after a change of conf.yml names what the manifests create', () => {
  const [, deployment, daemonSet] = /rollout restart deployment\/(\S+) daemonset\/(\S+)/.exec(page) ?? [];
  expect(readRootFile('deploy/controller.yaml')).toMatch(
    new RegExp(`kind: Deployment\\nmetadata:\\n  name: ${deployment}\\n`),
  );
  expect(readRootFile('deploy/agent.yaml')).toMatch(
    new RegExp(`kind: DaemonSet\\nmetadata:\\n  name: ${daemonSet}\\n`),
  );
});
