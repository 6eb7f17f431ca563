import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spoolFileName } from '#pkg/agentapi/decode-args.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from './build-pool.ts';
import { addArgs, delArgs, type MemoryAgent, newCall } from './memory-agent.ts';

/** Three addresses. */
export const V4_TEXT = { name: 'v4', ips: ['10.0.0.10-10.0.0.12'], gateway: '10.0.0.1', isDefault: true };
export const V4 = buildPool(V4_TEXT);
export const V6 = buildPool({ name: 'v6', subnet: 'fd00::/64', isDefault: true });

export async function addressesOf(made: MemoryAgent, containerID: string, more = {}): Promise<string[]> {
  const answer = await made.agent.add(addArgs(containerID, more), newCall());
  return answer.ips.map((ip) => ip.address);
}

export async function allRecords(ledger: Ledger): Promise<IpRecord[]> {
  return await ledger.list({ limit: 10_000 });
}

/** A DEL as the plugin leaves it while the agent is away. */
export async function spoolDel(made: MemoryAgent, containerID: string): Promise<void> {
  const del = delArgs(containerID);
  await writeFile(join(made.spoolDirectory, spoolFileName(del)), JSON.stringify({ version: 1, del }));
}

/** All methods of a ledger except release, for a test that overrides some of them. */
export function bound(ledger: Ledger): Partial<Ledger> {
  const names = [
    'create',
    'takeOver',
    'amend',
    'get',
    'byHolder',
    'byNode',
    'list',
    'takenOf',
    'watchPool',
    'close',
  ] as const;
  return Object.fromEntries(names.map((name) => [name, ledger[name].bind(ledger)]));
}
