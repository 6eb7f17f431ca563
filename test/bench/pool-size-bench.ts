import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { openSqliteLedger } from '#pkg/ledger/sqlite/sqlite-ledger.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { startAgent } from '#test/support/agent-process.ts';
import { addArgs, delArgs } from '#test/support/memory-agent.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { measureInBlocks, noteNoise } from './blocks.ts';
import { type Line, ms, printTable } from './report.ts';
import { Client } from './socket-load.ts';
import { median, spread } from './statistics.ts';

const BLOCKS = 5;
const PER_BLOCK = 200;

/** `taken` counts records that hold addresses from the start of the range on. */
const POOLS = {
  '2^8 empty': { range: 'fd00:8::-fd00:8::ff', taken: 0 },
  '2^16 empty': { range: 'fd00:16::-fd00:16::ffff', taken: 0 },
  '2^64 empty': { range: 'fd00:64::-fd00:64::ffff:ffff:ffff:ffff', taken: 0 },
  '2^8 99 % full': { range: 'fd00:80::-fd00:80::ff', taken: 253 },
  '2^16 99 % full': { range: 'fd00:160::-fd00:160::ffff', taken: 64_881 },
  '2^64 99 % excluded, 64,881 taken': {
    range: 'fd00:640::fd70:a3d7:0a3d:70a4-fd00:640::ffff:ffff:ffff:ffff',
    taken: 64_881,
  },
} as const;
type Name = keyof typeof POOLS;
const NAMES = Object.keys(POOLS) as Name[];
const BASELINE = { empty: '2^8 empty', full: '2^8 99 % full' } as const;

/** Time per ADD by size and use of the pool; one agent serves all pools. */
export async function benchPoolSizes(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-sizes-'));
  try {
    await mkdir(join(directory, 'data'), { mode: 0o700 });
    await fill(join(directory, 'data', 'ledger.db'));
    const pools = Object.fromEntries(NAMES.map((name, at) => [`${at}.yaml`, toYaml(name, at)]));
    await using agent = await startAgent({ pools, flags: ['--log-level', 'warn', '--data', join(directory, 'data')] });
    const client = new Client(agent.socket);
    const subjects = Object.fromEntries(
      NAMES.map((name, at) => [name, () => timeAdds(client, `pool-${at}`)]),
    ) as Record<Name, () => Promise<number[]>>;
    const measured = await measureInBlocks(subjects, BLOCKS);
    client.close();
    const medians = (name: Name) => measured.values[name].map((block) => median(block));
    const lines = NAMES.map((name): Line => {
      const baseline = medians(name.endsWith('empty') ? BASELINE.empty : BASELINE.full);
      const ratios = medians(name).map((value, at) => value / (baseline[at] ?? Number.NaN));
      const isLimited = name.startsWith('2^64');
      return {
        what: name,
        value: `p50 ${ms(median(medians(name)))}`,
        against: `${median(ratios).toFixed(2)} × 2^8 ± ${(spread(ratios) * 100).toFixed(0)} %`,
        ...(isLimited ? { limit: 'at most 1.50 ×', isMet: median(ratios) <= 1.5 } : {}),
      };
    });
    printTable(`Time per ADD by pool size (${noteNoise(measured)})`, lines);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function timeAdds(client: Client, pool: string): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < PER_BLOCK; at += 1) {
    const body = JSON.stringify(addArgs(`bench-${at}`, { defaultIPv6IPPool: [pool] }));
    const startedMs = performance.now();
    await client.post(PATHS.ip, body);
    times.push(performance.now() - startedMs);
    await client.delete(PATHS.ip, JSON.stringify(delArgs(`bench-${at}`)));
  }
  return times;
}

function toYaml(name: Name, at: number): string {
  const { range } = POOLS[name];
  const subnet = `${range.slice(0, range.indexOf('::'))}::/64`;
  return poolYaml(`pool-${at}`, { subnet, ips: [range], isDefault: false });
}

async function fill(file: string): Promise<void> {
  const ledger = await openSqliteLedger(file);
  for (const [at, name] of NAMES.entries()) {
    const { first } = parseRange(POOLS[name].range);
    for (let from = 0; from < POOLS[name].taken; from += 1_000) {
      const batch = Math.min(1_000, POOLS[name].taken - from);
      await Promise.all(
        Array.from({ length: batch }, (_, offset) => ledger.create(spec(first + BigInt(from + offset), `pool-${at}`))),
      );
    }
  }
  await ledger.close();
}

function spec(value: bigint, pool: string): RecordSpec {
  const address = formatAddress({ family: 6, value });
  return {
    address,
    prefix: 64,
    domain: 'default',
    pool: { kind: 'SpiderIPPool', name: pool, uid: '' },
    state: 'Allocated',
    holder: {
      kind: 'Container',
      namespace: '',
      name: address.replaceAll(':', '-'),
      uid: address,
      interface: 'eth0',
      attachGeneration: 1,
      node: 'filled',
    },
  };
}
