import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { AdoptionSource, Legacy, Look } from './adopt.ts';
import { readMarker } from './adoption-marker.ts';
import { findOldAccounts, findOldWriters, SPIDERPOOL_ACCOUNTS } from './old-writers.ts';
import { planAdoption } from './plan-adoption.ts';
import { readWorld, type WorldOptions } from './read-world.ts';

/** Agents give out nothing before its marker exists. */
export const SPIDERPOOL: AdoptionSource = {
  marker: 'ipledger-adopted',
  findWriters: findOldWriters,
  look: (client) => look(client, { withPods: true }),
  lookForLegacy,
};

async function lookForLegacy(client: KubeClient, namespace: string): Promise<Legacy> {
  const marker = await readMarker(client, { namespace, name: SPIDERPOOL.marker });
  if (marker !== null) return { isAdopted: true, addresses: 0, unreadable: 0, accounts: [] };
  const accounts = await findOldAccounts(client, SPIDERPOOL_ACCOUNTS);
  const { create, unreadable } = await look(client, { withPods: false });
  return { isAdopted: false, addresses: create.length, unreadable: unreadable.length, accounts };
}

async function look(client: KubeClient, options: WorldOptions): Promise<Look> {
  const { world, unreadable } = await readWorld(client, options);
  return { ...planAdoption(world), unreadable };
}
