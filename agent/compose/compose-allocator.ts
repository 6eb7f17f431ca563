import type { AddressProbe } from '#agent/allocate/address-probe.ts';
import { Allocator } from '#agent/allocate/allocator.ts';
import { Announcer } from '#agent/allocate/answer.ts';
import type { AutoPools } from '#agent/allocate/auto-pools.ts';
import { FamilyTaker } from '#agent/allocate/family-taker.ts';
import type { FreedWaiters } from '#agent/allocate/freed-waiters.ts';
import { Reattachment } from '#agent/allocate/reattachment.ts';
import { StickyTakeOver } from '#agent/allocate/sticky-take-over.ts';
import { SuspectProbe } from '#agent/allocate/suspect-probe.ts';
import type { KeyedQueue } from '#agent/calls/call.ts';
import type { GiveBack } from '#agent/release/give-back.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import type { FilledPorts } from './compose-ports.ts';

/** Parts that ADDs share with the other work of the agent. */
interface SharedParts {
  readonly queue: KeyedQueue;
  readonly views: PoolViews;
  readonly giveBack: GiveBack;
  readonly probe: AddressProbe;
  readonly waiters: FreedWaiters;
  readonly autoPools: AutoPools;
}

/** Wires the steps of an ADD. The sticky take-over is null where pods do not follow each other. */
export function composeAllocator(
  ports: FilledPorts,
  shared: SharedParts,
): { allocator: Allocator; sticky: StickyTakeOver | null } {
  const { catalog, planOptions: options, probeSettings, prober, isStillAlive, exhaustedWaitMs: waitMs, log } = ports;
  const parts = { ...ports, ...shared, options };
  const suspectProbe = new SuspectProbe({ ...parts, windowMs: probeSettings.windowMs });
  const reattachment = new Reattachment(parts);
  const taker = new FamilyTaker({ ...parts, suspectProbe });
  const reserved = (family: 4 | 6) => catalog.current().reserved[family];
  const sticky =
    isStillAlive === null
      ? null
      : new StickyTakeOver({ ...parts, reattachment, suspectProbe, isStillAlive, reserved, waitMs });
  const announcer = new Announcer(prober?.announcer ?? null, log);
  return { allocator: new Allocator({ ...parts, reattachment, taker, sticky, announcer }), sticky };
}
