import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prober } from '#agent/probe/prober.ts';
import { ETHER_TYPE } from '#agent/probe/wire/ethernet-frame.ts';
import { makeLan, targetOn } from '#test/e2e/probe-lan.ts';
import { openPeer } from '#test/e2e/probe-peer.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { printTable } from './report.ts';
import { median } from './statistics.ts';

const FRAMES_PER_SECOND = 10_000;
const BLOCK_MS = 2_000;
const BLOCKS = 5;
const AT_ONCE = 10;

/** CPU of this process while ten probes are always open, with and without a storm of foreign ARP on their link. */
export async function benchProbeStorm(): Promise<void> {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  await prober.probe(targetOn(lan, '10.9.0.50'));
  const storm = async (deed: () => Promise<number>) => {
    const sender = startStorm(lan.host.path);
    await sleep(500);
    const share = await deed();
    return [share, await sender.sentPerSecond()];
  };
  const probing = () =>
    cpuShare(async (endsAtMs) => {
      const keepProbing = async (at: number) => {
        while (performance.now() < endsAtMs) await prober.probe(targetOn(lan, `10.9.0.${50 + at}`));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => keepProbing(at)));
    });
  const readingAll = () =>
    cpuShare(async () => {
      const peers = new AsyncDisposableStack();
      for (let at = 0; at < AT_ONCE; at += 1) peers.use(await openPeer(lan.pod, ETHER_TYPE.arp, () => {}));
      await sleep(BLOCK_MS);
      await peers.disposeAsync();
    });
  const measured = await measureInBlocks(
    {
      quiet: async () => [await probing()],
      storm: () => storm(probing),
      unfiltered: () => storm(readingAll),
    },
    BLOCKS,
  );
  const share = (name: keyof typeof measured.values) => median(measured.values[name].map(([it = 0]) => it));
  const rate = median(measured.values.storm.map(([, it = 0]) => it));
  const percent = (value: number) => `${(value * 100).toFixed(1)} % of a core`;
  printTable(`ARP storm of ${rate.toFixed(0)} frames/s, ${AT_ONCE} probes open (${noteNoise(measured)})`, [
    { what: 'probing, quiet link', value: percent(share('quiet')) },
    {
      what: 'probing in the storm',
      value: percent(share('storm')),
      against: `quiet + ${percent(share('storm') - share('quiet'))}`,
      limit: 'under 15 %',
      isMet: share('storm') < 0.15,
    },
    { what: 'sockets without a filter in the storm', value: percent(share('unfiltered')) },
  ]);
}

async function cpuShare(deed: (endsAtMs: number) => Promise<void>): Promise<number> {
  const [startedAtMs, before] = [performance.now(), process.cpuUsage()];
  await deed(startedAtMs + BLOCK_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (performance.now() - startedAtMs);
}

function startStorm(netns: string) {
  const program = join(import.meta.dirname, 'probe-storm-sender.ts');
  const args = ['--pdeathsig', 'KILL', process.execPath, program, netns, `${FRAMES_PER_SECOND}`];
  const child = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    async sentPerSecond(): Promise<number> {
      child.kill('SIGTERM');
      return Number(await text(child.stdout));
    },
  };
}
