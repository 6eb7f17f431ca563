import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startApiServer } from '#test/support/api-server.ts';
import { CHART, CRD_CHART, mustHelm, runHelm } from '#test/support/helm.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHARTS: Readonly<Record<string, string>> = { 'deploy/chart': CHART, 'deploy/chart-crds': CRD_CHART };

test('the chapter on Spiderpool installs both charts over CRDs that belong to no release', async () => {
  await using server = await startApiServer();
  await applyManifests(server, 'crds');
  const [crds = [], chart = []] = await commandsOfTheChapter();
  const refused = await runHelm(server, ...crds.filter((word) => word !== '--take-ownership'));
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('invalid ownership metadata') });
  await mustHelm(server, ...crds);
  const release = '-o=jsonpath={.metadata.annotations.meta\\.helm\\.sh/release-name}';
  expect(await kubectl(server, ['get', 'crd', 'spiderippools.spiderpool.spidernet.io', release])).toBe('ipledger-crds');

  await mustHelm(server, ...chart);
  const args = '-o=jsonpath={.spec.template.spec.initContainers[0].args}';
  const installed = await kubectl(server, ['get', 'daemonset', 'ipledger-agent', '--namespace=ipledger', args]);
  expect(JSON.parse(installed)).toContain('--as-spiderpool=always');
});

/** The words of its `helm install` commands, without the values of the operator. */
async function commandsOfTheChapter(): Promise<string[][]> {
  const page = await readFile(join(ROOT, 'docs/cluster.md'), 'utf8');
  const [chapter = ''] = (page.split('\n## Coming from Spiderpool\n')[1] ?? '').split('\n## ');
  return [...chapter.matchAll(/^helm (install .*)$/gm)].map(([, command = '']) =>
    command
      .replace(' --values my-values.yaml', '')
      .split(' ')
      .map((word) => CHARTS[word] ?? word),
  );
}
