import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiServer } from '#test/support/api-server.ts';
import type { ChaosApi } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';
import type { MortalProcess } from './mortal-process.ts';
import { RECORDS, type SeenRecord } from './referee.ts';
import type { Sandboxes } from './sandboxes.ts';

/** In this time the agents have created lost records again, and kubelets have stopped pods that the API server lost. */
const IN_DOUBT_MS = 60_000;

interface AccidentSite {
  readonly api: ChaosApi;
  readonly sandboxes: Sandboxes;
  readonly random: Random;
}

/** An operator deletes records of a live pod, of one interface or of all; then the agent of its node starts again. */
export async function deleteRecords(node: string, agent: MortalProcess, site: AccidentSite): Promise<void> {
  const { api, sandboxes, random } = site;
  const live = sandboxes.live().filter((it) => it.node === node);
  if (live.length === 0) return;
  const { uid } = random.pick(live);
  const own = live.filter((it) => it.uid === uid).map(({ address }) => address);
  const addresses = new Set(random.isOneIn(2) ? own : own.slice(-1));
  const isAgentUp = random.isOneIn(2);
  if (!isAgentUp) await agent.kill();
  const doubt = {
    why: 'its record was deleted by hand',
    addresses,
    untilMs: performance.now() + IN_DOUBT_MS,
    overAtMs: Number.POSITIVE_INFINITY,
    // Whoever comes first, until the agent is there again.
    mayTake: () => true,
  };
  sandboxes.doubts.open(doubt);
  for (const address of addresses) {
    sandboxes.tell(address, 'an operator deletes its record');
    await api.remove(`${RECORDS}/${address}`).catch(() => {});
  }
  doubt.overAtMs = performance.now();
  if (isAgentUp) await sleep(random.below(3_000));
  await agent.kill();
  agent.start();
}

/** Etcd gets a backup, and is restored from it later: what was written in between is gone, and revisions fall. */
export async function restoreBackup(server: ApiServer, site: AccidentSite): Promise<void> {
  const { api, sandboxes, random } = site;
  const saved = await holders(api);
  await server.saveStore();
  for (const [address, uids] of await holders(api)) saved.set(address, uids.union(saved.get(address) ?? new Set()));
  await sleep(4_000 + random.below(12_000));
  const doubt = {
    why: 'etcd was restored from a backup',
    addresses: null,
    untilMs: performance.now() + 2 * IN_DOUBT_MS,
    overAtMs: Number.POSITIVE_INFINITY,
    // A pod of the backup comes back together with its record, and is answered with it.
    mayTake: (address: string, uid: string) => saved.get(address)?.has(uid) === true,
  };
  sandboxes.doubts.open(doubt);
  await server.restoreStore();
  doubt.overAtMs = performance.now();
  doubt.untilMs = doubt.overAtMs + IN_DOUBT_MS;
}

async function holders(api: ChaosApi): Promise<Map<string, ReadonlySet<string>>> {
  for (;;) {
    const records = await api.list<SeenRecord>(RECORDS).catch(() => null);
    if (records !== null) return new Map(records.map(({ spec }) => [spec.address, new Set([spec.holder.uid ?? ''])]));
    await sleep(300);
  }
}
