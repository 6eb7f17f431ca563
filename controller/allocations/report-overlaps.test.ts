import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { buildNetwork } from '#test/support/build-allocation.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { OverlapNotes } from './overlap-notes.ts';
import { reportOverlaps } from './report-overlaps.ts';

const PATIENCE = { timeout: 20_000, interval: 20 };

/** How often the addresses of the pool are looked at. */
function counted(pool: Pool, count: { looks: number }): Pool {
  return Object.defineProperty({ ...pool }, 'addresses', {
    get: () => {
      count.looks += 1;
      return pool.addresses;
    },
  });
}

test('the overlap of two pools is found after an edit, and is not looked for again when only a status has changed', async () => {
  let comparisons = 0;
  const changes = new Listeners<never>();
  const network = buildNetwork({ block: { ipv4RangeStart: '10.0.2.50' } });
  const { addresses } = network.network?.pool ?? expect.unreachable();
  const intersect = (other: IntervalSet) => {
    comparisons += 1;
    return IntervalSet.prototype.intersect.call(addresses, other);
  };
  Object.assign(addresses, { intersect });
  let pods = buildPool({ name: 'pods', subnet: '10.0.2.0/24', ips: ['10.0.2.60-10.0.2.70'] });
  const told: EmittedEvent[] = [];
  const notes = new OverlapNotes();
  const view = { synced: Promise.resolve(), onChange: (listener: () => void) => changes.add(listener) };
  const { namespace, name, uid } = network;
  await using _reporter = reportOverlaps({
    client: { timing: SYSTEM_TIMING },
    log: pino({ enabled: false }),
    isLeader: () => true,
    now: () => new Date(),
    events: { emit: (event: EmittedEvent) => void told.push(event) },
    networks: {
      all: () => [{ object: { metadata: { namespace, name, uid } }, network }],
      onEdit: () => changes.add(() => {}),
    },
    networksView: view,
    pools: view,
    catalog: { names: () => ['pods'], find: () => ({ facts: { pool: pods } }) },
    notes,
  } as never);
  await vi.waitFor(() => expect(notes.find('datacenter-01/prod-network')).toContain('10.0.2.60-10.0.2.70'), PATIENCE);
  expect(told.map(({ reason }) => reason)).toEqual(['Overlap']);

  expect(comparisons).toBe(1);

  // Read anew, with the same addresses.
  const seen = { looks: 0 };
  pods = counted(buildPool({ name: 'pods', subnet: '10.0.2.0/24', ips: ['10.0.2.60-10.0.2.70'] }), seen);
  changes.tell(undefined as never);
  await vi.waitFor(() => expect(seen.looks).toBeGreaterThan(0), PATIENCE);
  expect(comparisons).toBe(1);

  pods = buildPool({ name: 'pods', subnet: '10.0.2.0/24', ips: ['10.0.2.2-10.0.2.9'] });
  changes.tell(undefined as never);
  await vi.waitFor(() => expect(notes.find('datacenter-01/prod-network')).toBe(''), PATIENCE);
});
