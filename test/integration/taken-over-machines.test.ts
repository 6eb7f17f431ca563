import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Adoption, adopt } from '#pkg/adopt/adopt.ts';
import { VITISTACK } from '#pkg/adopt/vitistack/vitistack.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CONFIG_MAPS } from '#pkg/kube/objects/core-resources.ts';
import {
  IP_ALLOCATIONS,
  NETWORK_CONFIGURATIONS,
  OLD_NETWORK_NAMESPACES,
} from '#pkg/kube/objects/vitistack-resources.ts';
import { CONFIGURATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { mortal } from '#test/support/mortal-client.ts';
import { deaths } from './mortal-leader.ts';
import { NAMESPACE, PATIENCE, type ProviderStage, shownIn, startProviderStage } from './provider-stage.ts';
import { sure } from './spider-objects.ts';

/** Machines of static-ip-operator, in an installation that serves NetworkNamespaces of v1alpha1 only. */

let stage: ProviderStage;

beforeAll(async () => {
  stage = await startProviderStage({ isOld: true });
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  await stage.clear();
  const marker = { namespace: 'ipledger', name: VITISTACK.marker };
  const found = await stage.admin.get(CONFIG_MAPS, marker);
  if (found.ok) await sure(stage.admin.delete(CONFIG_MAPS, { ...marker, uid: found.object.metadata.uid }));
});

const importWith = (client: KubeClient): Promise<Adoption> =>
  adopt(client, VITISTACK, { dryRun: false, namespace: 'ipledger', marker: { adoptedAt: 'now', adoptedBy: 'test' } });
const shown = (name: string, addresses: readonly string[], more: object = {}) => ({
  name,
  ipv4Addresses: addresses,
  ipAllocated: true,
  allocationMethod: 'static',
  ...more,
});

/** As static-ip-operator leaves it. */
async function leave(
  name: string,
  entries: readonly object[],
  interfaces: readonly string[] = ['eth0'],
): Promise<void> {
  await stage.configuration(name, { interfaces, metadata: { finalizers: [CONFIGURATION_FINALIZER] } });
  // Without the phase, so that a phase is the controller's.
  await stage.replaceStatus(NETWORK_CONFIGURATIONS, name, { networkInterfaces: entries });
}

const statusOf = (name: string) => stage.statusOf(NETWORK_CONFIGURATIONS, name);

test('without v1alpha2 of NetworkNamespaces, machines get addresses, and the summary is that of v1alpha1 with its list', async () => {
  await using _leader = stage.lead();
  await stage.network('prod-network');
  await stage.configuration('web');
  expect(await stage.shows('web', 'Ready')).toEqual(['10.0.2.2']);
  await vi.waitFor(async () => {
    expect(await stage.statusOf(OLD_NETWORK_NAMESPACES, 'prod-network')).toMatchObject({
      ipv4Prefix: '10.0.2.0/24',
      vlanId: 100,
      ipAllocationStatus: {
        type: 'static',
        allocatedCount: 1,
        availableCount: 252,
        totalCount: 253,
        allocatedIPs: [{ ip: '10.0.2.2', networkConfiguration: 'web' }],
      },
    });
  }, PATIENCE);
});

test('several addresses of an interface, a MAC address alone, and two machines with one name for their IPAllocations: each keeps what it shows', async () => {
  await stage.network('prod-network');
  await leave('web', [shown('eth0', ['10.0.2.50', '10.0.2.10'])]);
  await leave('by-mac', [shown('', ['10.0.2.60'], { macAddress: '02:00:00:00:00:00' })]);
  await leave('a', [shown('b-c', ['10.0.2.70'])], ['b-c']);
  await leave('a-b', [shown('c', ['10.0.2.71'])], ['c']);
  expect(await importWith(stage.admin)).toMatchObject({ outcome: 'adopted', collisions: [] });
  await using _leader = stage.lead();
  for (const [name, address] of [
    ['web', '10.0.2.50'],
    ['by-mac', '10.0.2.60'],
    ['a', '10.0.2.70'],
    ['a-b', '10.0.2.71'],
  ] as const) {
    expect(await stage.shows(name, 'Ready')).toEqual([address]);
  }
  const held = (await stage.records()).map((it) => it.split(' ', 1)[0]);
  expect(held.toSorted()).toEqual(['10.0.2.10', '10.0.2.50', '10.0.2.60', '10.0.2.70', '10.0.2.71']);
});

test('an IPAllocation of its newer versions and a pod that has the address of a machine: nobody is renumbered, and the pod is named', async () => {
  await stage.network('prod-network');
  await stage.ledger.create(specOf('10.0.2.60'));
  await leave('web', [shown('eth0', ['10.0.2.50'])]);
  await leave('db', [shown('eth0', ['10.0.2.60'])]);
  await sure(
    stage.admin.create(IP_ALLOCATIONS, {
      metadata: { namespace: NAMESPACE, name: 'web-eth0' },
      spec: { networkNamespaceName: 'prod-network', networkConfigurationName: 'web', interfaceName: 'eth0' },
    }),
  );
  await stage.replaceStatus(IP_ALLOCATIONS, 'web-eth0', { phase: 'Allocated', address: '10.0.2.50' });
  const { outcome, records, collisions } = await importWith(stage.admin);
  expect(outcome).toBe('adopted');
  const { uid } = (await stage.get(IP_ALLOCATIONS, 'web-eth0'))?.metadata ?? expect.unreachable();
  expect(records.map(({ address, holder }) => [address, holder.name, holder.uid])).toEqual([
    ['10.0.2.50', 'web-eth0', uid],
  ]);
  expect(collisions).toEqual([
    expect.stringMatching(
      /^10\.0\.2\.60 is claimed by Pod .* and NetworkConfiguration default\/db eth0; the first one has it$/,
    ),
  ]);
  await using _leader = stage.lead();
  expect(await stage.shows('web', 'Ready')).toEqual(['10.0.2.50']);
  await vi.waitFor(
    async () => expect((await statusOf('db'))['message']).toMatch(/10\.0\.2\.60 is held by Pod/),
    PATIENCE,
  );
  expect(shownIn(await statusOf('db'))).toEqual(['10.0.2.60']);
});

// Three records at once, then the marker.
describe.each(deaths([1, 3, 4]))('an import that is killed $when its write $write', (death) => {
  test('can be run again: each address has one record, and machines are served only after the end', async () => {
    await stage.network('prod-network');
    for (const [name, address] of [
      ['web', '10.0.2.50'],
      ['db', '10.0.2.51'],
      ['app', '10.0.2.52'],
    ] as const) {
      await leave(name, [shown('eth0', [address])]);
    }
    const { client, died } = mortal(stage.admin, death.write, death.isSent);
    // It has no answer any more; what it would still say is of no interest.
    importWith(client).catch(() => {});
    await died;
    const isDone = death.write === 4 && death.isSent;
    expect(await VITISTACK.lookForLegacy(stage.admin, 'ipledger')).toMatchObject({ isAdopted: isDone });
    expect(await importWith(stage.admin)).toMatchObject({
      outcome: isDone ? 'already-adopted' : 'adopted',
      collisions: [],
    });
    await using _leader = stage.lead();
    expect(await stage.shows('web', 'Ready')).toEqual(['10.0.2.50']);
    expect(await stage.shows('db', 'Ready')).toEqual(['10.0.2.51']);
    expect(await stage.shows('app', 'Ready')).toEqual(['10.0.2.52']);
    expect((await stage.records()).toSorted()).toEqual([
      '10.0.2.50 web-eth0',
      '10.0.2.51 db-eth0',
      '10.0.2.52 app-eth0',
    ]);
  });
});
