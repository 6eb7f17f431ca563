import { readFileSync } from 'node:fs';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { type AgentProcess, startAgent } from '#test/support/agent-process.ts';
import { addArgs } from '#test/support/memory-agent.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { type Line, printTable } from './report.ts';
import { runLoad } from './socket-load.ts';
import { median, spread } from './statistics.ts';

const BLOCKS = 9;
const COUNT = 1_500;
const IN_FLIGHT = 16;
const LEAST = 0.95;
const NET_RAW = 1n << 13n;
const POOL = poolYaml('wide', { subnet: '10.0.0.0/8', ips: ['10.0.0.1-10.200.0.0'] });

/** ADDs per second of an agent that could probe but does not need to, compared with one that lacks the capability. */
export async function benchIdleProber(): Promise<void> {
  const setting = { pools: { 'p.yaml': POOL }, flags: ['--log-level', 'warn'] };
  await using able = await startAgent(setting);
  await using unable = await startAgent({ ...setting, under: ['setpriv', '--bounding-set', '-net_raw'] });
  if (!mayProbe(able) || mayProbe(unable)) throw new Error('the two agents do not differ in what they may do');
  const measured = await measureInBlocks({ without: () => rateOf(unable), with: () => rateOf(able) }, BLOCKS);
  const rates = (blocks: readonly number[][]) => blocks.map(([rate = Number.NaN]) => rate);
  const without = rates(measured.values.without);
  const ratios = rates(measured.values.with).map((rate, at) => rate / (without[at] ?? Number.NaN));
  const line: Line = {
    what: `ADD, ${IN_FLIGHT} in flight`,
    value: `${median(rates(measured.values.with)).toFixed(0)}/s`,
    against: `${median(ratios).toFixed(2)} × an agent without a prober ± ${(spread(ratios) * 100).toFixed(0)} %`,
    limit: `at least ${LEAST.toFixed(2)} ×`,
    isMet: median(ratios) >= LEAST,
  };
  printTable(`What a prober costs that is not used (${noteNoise(measured)})`, [line]);
}

let serial = 0;

async function rateOf({ socket }: AgentProcess): Promise<number[]> {
  const { perSecond } = await runLoad(socket, COUNT, IN_FLIGHT, async (client) => {
    serial += 1;
    await client.post(PATHS.ip, JSON.stringify(addArgs(`idle-${serial}`)));
  });
  return [perSecond];
}

function mayProbe({ pid }: AgentProcess): boolean {
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & NET_RAW) !== 0n;
}
