import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prober } from '#agent/probe/prober.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { giveAddress, targetOn } from '#test/e2e/probe-lan.ts';
import { makeNetns, type Netns } from '#test/support/netns.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { ms, printTable } from './report.ts';
import { median } from './statistics.ts';

export const PODS = 50;
const WINDOW_MS = 100;
const BLOCKS = 5;

/** Fifty pods at once, each with both families and both gateways: 100 probes. */
export async function benchProbeCrowd(): Promise<void> {
  await using made = new AsyncDisposableStack();
  const pods = await makePods(made);
  const prober = made.use(new Prober());
  const probeAll = async () => {
    const targets = pods.flatMap((pod, at) => [
      targetOn({ pod }, `10.9.1.${at}`, { gateway: parseAddress('10.9.0.1'), detectGateway: true }),
      targetOn({ pod }, `fd09::1:${at}`, { gateway: parseAddress('fd09::1'), detectGateway: true }),
    ]);
    const verdicts = await Promise.all(targets.map((target) => prober.probe(target)));
    const wrong = verdicts.find(({ kind }) => kind !== 'free');
    if (wrong !== undefined) throw new Error(`a free address was ${JSON.stringify(wrong)}`);
  };
  const subjects = {
    idle: () => withLoopDelay(() => sleep(WINDOW_MS)),
    'links up': () => withLoopDelay(probeAll),
    'links down before': async () => {
      for (const pod of pods) await pod.must('ip', 'link', 'set', 'eth0', 'down');
      return await withLoopDelay(probeAll);
    },
  };
  const measured = await measureInBlocks(subjects, BLOCKS);
  const idleDelay = median(measured.values.idle.map(([, delay = 0]) => delay));
  const lines = (['links up', 'links down before'] as const).flatMap((what) => {
    const took = median(measured.values[what].map(([it = 0]) => it));
    const delay = median(measured.values[what].map(([, it = 0]) => it));
    return [
      {
        what: `${PODS} pods, ${what}`,
        value: ms(took),
        against: `${(took / WINDOW_MS).toFixed(2)} × window`,
        limit: 'within 3 windows',
        isMet: took <= 3 * WINDOW_MS,
      },
      {
        what: '  longest stall of the event loop',
        value: ms(delay),
        against: `idle ${ms(idleDelay)}`,
        limit: 'at most 20 ms',
        isMet: delay <= 20,
      },
    ];
  });
  printTable(`Probes of ${PODS} pods at once, dual stack with gateways (${noteNoise(measured)})`, lines);
}

async function withLoopDelay(deed: () => Promise<unknown>): Promise<number[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAtMs = performance.now();
  await deed();
  const tookMs = performance.now() - startedAtMs;
  delay.disable();
  return [tookMs, delay.max / 1e6];
}

/** Macvlans on one uplink, behind which a host has both gateways. */
export async function makePods(made: AsyncDisposableStack): Promise<Netns[]> {
  const host = made.use(await makeNetns());
  const node = made.use(await makeNetns());
  await node.must('ip', ...`link add up0 index 500 type veth peer name eth0 netns ${host.name}`.split(' '));
  await node.must('ip', 'link', 'set', 'up0', 'up');
  await host.must('ip', 'link', 'set', 'eth0', 'up');
  await giveAddress(host, '10.9.0.1/16');
  await giveAddress(host, 'fd09::1/64');
  const pods: Netns[] = [];
  for (let at = 0; at < PODS; at += 1) {
    const pod = made.use(await makeNetns());
    await node.must('ip', ...`link add eth0 link up0 netns ${pod.name} type macvlan mode bridge`.split(' '));
    pods.push(pod);
  }
  return pods;
}
