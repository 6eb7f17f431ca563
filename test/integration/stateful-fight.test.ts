import { beforeAll, expect, onTestFailed, test, vi } from 'vitest';
import { type ChaosSite, startChaosSite } from '#test/chaos/chaos-site.ts';
import { Random } from '#test/chaos/fuzz-random.ts';
import { Referee } from '#test/chaos/referee.ts';
import { Sandboxes } from '#test/chaos/sandboxes.ts';
import { SimControllers } from '#test/chaos/sim-controllers.ts';
import { SimKubelet } from '#test/chaos/sim-kubelet.ts';
import { SimRuntime } from '#test/chaos/sim-runtime.ts';
import { Wire } from '#test/chaos/wire.ts';

const SETS = '/apis/apps/v1/namespaces/prod/statefulsets';
const PATIENCE = { timeout: 180_000, interval: 200 };
const SIZE = 5;

let site: ChaosSite;

beforeAll(async () => {
  site = await startChaosSite({ pools: { sticky: '10.61.0.10-10.61.0.14' } });
  return () => site[Symbol.asyncDispose]();
});

const scale = (name: string, replicas: number) => site.api.patch(`${SETS}/${name}`, { spec: { replicas } });

async function createSet(name: string): Promise<void> {
  const template = {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'main' }] },
  };
  const spec = { replicas: SIZE, serviceName: name, selector: { matchLabels: { app: name } }, template };
  await site.api.create(SETS, { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name }, spec });
}

test('scaled 5 → 0 → 5 while another set waits for the same five addresses: never two pods with one address', async () => {
  await using stack = new AsyncDisposableStack();
  const { api, nodes } = site;
  const sandboxes = new Sandboxes();
  const wire = stack.use(await Wire.open());
  const kubelets = nodes.map(({ name, place }, at) => {
    const runtime = new SimRuntime({ node: name, agent: place, wire, sandboxes, random: new Random(at) });
    return stack.use(new SimKubelet({ node: name, runtime, api, random: new Random(10 + at) }));
  });
  const readyNodes = () => kubelets.map(({ node }) => node);
  stack.use(new SimControllers({ api, random: new Random(9), readyNodes }));
  const referee = stack.use(new Referee(api, sandboxes));
  onTestFailed(() => {
    for (const { address } of sandboxes.violations) process.stderr.write(`${sandboxes.story(address).join('\n')}\n`);
  });
  const liveOf = (set: string) => sandboxes.live().filter(({ podKey }) => podKey.startsWith(`prod/${set}-`)).length;

  await createSet('one');
  await vi.waitUntil(() => liveOf('one') === SIZE, PATIENCE);
  const first = new Map(sandboxes.live().map(({ podKey, address }) => [podKey, address]));
  await createSet('two');
  await scale('one', 0);
  await vi.waitUntil(() => liveOf('one') === 0, PATIENCE);
  await scale('one', SIZE);
  // Five pods of either set have the five addresses, whichever was faster.
  await vi.waitUntil(() => sandboxes.live().length === SIZE, PATIENCE);
  // On some machines the fight is over within a few looks of the referee.
  await vi.waitUntil(() => referee.looks > 10, PATIENCE);
  await scale('two', 0);
  await vi.waitUntil(() => liveOf('one') === SIZE && liveOf('two') === 0, PATIENCE);

  expect(sandboxes.violations).toEqual([]);
  expect(new Set(sandboxes.live().map(({ address }) => address))).toEqual(new Set(first.values()));
});
