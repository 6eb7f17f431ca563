import { setTimeout as sleep } from 'node:timers/promises';
import { Prober } from '#agent/probe/prober.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { giveAddress, makeLan, targetOn } from '#test/e2e/probe-lan.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { ms, printTable } from './report.ts';
import { median, quantile } from './statistics.ts';

const BLOCKS = 5;
const PER_BLOCK = 8;
const WINDOW_MS = 100;
const MOST_ADDED_MS = 10;

/** The time that a probe of a free address adds to its window, compared with a bare timer. */
export async function benchProbeLatency(): Promise<void> {
  await using lan = await makeLan('macvlan');
  await giveAddress(lan.host, '10.9.0.1/24');
  await giveAddress(lan.host, 'fd09::1/64');
  using prober = new Prober();
  const v4 = targetOn(lan, '10.9.0.50');
  const v6 = targetOn(lan, 'fd09::50');
  const v4Gateway = { ...v4, gateway: parseAddress('10.9.0.1'), detectGateway: true };
  const v6Gateway = { ...v6, gateway: parseAddress('fd09::1'), detectGateway: true };
  const probeAll = async (...targets: (typeof v4)[]) => {
    const verdicts = await Promise.all(targets.map((target) => prober.probe(target)));
    const wrong = verdicts.find(({ kind }) => kind !== 'free');
    if (wrong !== undefined) throw new Error(`a free address was ${JSON.stringify(wrong)}`);
  };
  const subjects = {
    'bare timer': block(() => sleep(WINDOW_MS)),
    IPv4: block(() => probeAll(v4)),
    IPv6: block(() => probeAll(v6)),
    'dual stack with gateways': block(() => probeAll(v4Gateway, v6Gateway)),
    'the same, link down before': block(
      () => probeAll(v4Gateway, v6Gateway),
      () => lan.pod.must('ip', 'link', 'set', 'eth0', 'down'),
    ),
  };
  const measured = await measureInBlocks(subjects, BLOCKS);
  const lines = Object.entries(measured.values).map(([what, blocks]) => {
    const times = blocks.flat();
    const timer = median(measured.values['bare timer'].flat());
    const isProbe = what !== 'bare timer';
    const added = median(times) - WINDOW_MS;
    return {
      what,
      value: `window + ${ms(added)}, p90 + ${ms(quantile(times, 0.9) - WINDOW_MS)}`,
      ...(isProbe ? { against: `timer + ${ms(median(times) - timer)}` } : {}),
      ...(isProbe ? { limit: `window + ${MOST_ADDED_MS} ms`, isMet: added <= MOST_ADDED_MS } : {}),
    };
  });
  printTable(`Probe of one free address, window ${WINDOW_MS} ms (${noteNoise(measured)})`, lines);
}

function block(deed: () => Promise<unknown>, prepare: () => Promise<unknown> = async () => {}) {
  return async () => {
    const times: number[] = [];
    for (let count = 0; count < PER_BLOCK; count += 1) {
      await prepare();
      const startedAtMs = performance.now();
      await deed();
      times.push(performance.now() - startedAtMs);
    }
    return times;
  };
}
