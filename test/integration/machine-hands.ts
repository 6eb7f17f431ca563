import { expect, vi } from 'vitest';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, SHARED_IPS } from '#pkg/kube/objects/vitistack-resources.ts';
import type { TurnedClock } from '#test/support/turned-clock.ts';
import { type AllocationStage, NAMESPACE, PATIENCE } from './allocation-stage.ts';
import { sure } from './spider-objects.ts';

type Status = Readonly<Record<string, unknown>>;

const at = (name: string) => ({ namespace: NAMESPACE, name });

/** What operators of machines and clusters make, and what they see of it. */
export function machineHands(stage: AllocationStage) {
  const find = async (kind: Resource, name: string): Promise<KubeObject | null> => {
    const found = await stage.admin.get(kind, at(name));
    return found.ok ? found.object : null;
  };
  const statusOf = async (kind: Resource, name: string) => ((await find(kind, name))?.['status'] ?? {}) as Status;
  const shownBy = async (name: string) => {
    const { networkInterfaces = [] } = (await statusOf(NETWORK_CONFIGURATIONS, name)) as {
      networkInterfaces?: { ipv4Addresses?: string[] }[];
    };
    return networkInterfaces.flatMap(({ ipv4Addresses = [] }) => ipv4Addresses);
  };
  return {
    find,
    statusOf,
    shownBy,
    /** With one interface. */
    machine: (name: string) =>
      sure(
        stage.admin.create(NETWORK_CONFIGURATIONS, {
          metadata: at(name),
          spec: {
            name,
            networkNamespaceName: 'prod-network',
            networkInterfaces: [{ name: 'eth0', macAddress: '02:00:00:00:00:01' }],
          },
        }),
      ),
    sharedIp: () =>
      sure(
        stage.admin.create(SHARED_IPS, {
          metadata: at('blue-vip'),
          spec: {
            datacenterIdentifier: 'dc-01',
            supervisorIdentifier: 'sv-01',
            environment: 'prod',
            clusterIdentifier: 'blue',
            networkNamespaceIdentifier: 'prod-network',
            provider: 'static-ip-operator',
          },
        }),
      ),
    untilRecords: (expected: readonly string[]) =>
      vi.waitFor(async () => expect((await stage.records()).toSorted()).toEqual(expected), PATIENCE),
    untilGone: (kind: Resource, name: string) =>
      vi.waitFor(async () => expect(await find(kind, name)).toBeNull(), PATIENCE),
    /** The machine shows the address that the one record has. */
    untilServed: (name: string, address: string) =>
      vi.waitFor(async () => {
        expect(await statusOf(NETWORK_CONFIGURATIONS, name)).toMatchObject({ phase: 'Ready' });
        expect(await shownBy(name)).toEqual([address]);
        expect(await stage.records()).toEqual([address]);
        expect((await sure(stage.admin.list(IP_ALLOCATIONS))).items).toHaveLength(1);
      }, PATIENCE),
    /** A leader whose clocks are that one. */
    leadAt: (clock: TurnedClock) =>
      stage.lead({
        now: clock.now,
        client: stage.cluster.controller({ timing: clock.timing }),
      }),
  };
}
