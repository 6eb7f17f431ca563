const MIB = 1 << 20;
/** The rest is for code, stacks, buffers of the network, and the part of the heap for new objects. */
const SHARE = 0.65;
const LEAST_MB = 48;
/** A larger heap is asked for by name: V8 collects garbage the later the more it may keep. */
const MOST_MB = 4_096;

/** Without a memory limit. */
const UNLIMITED_MB = { agent: 256, controller: 1_024 } as const;

export type Daemon = keyof typeof UNLIMITED_MB;

export const isDaemon = (name: string): name is Daemon => Object.hasOwn(UNLIMITED_MB, name);

/** How large the heap of old objects may become, in MiB. `limit` is that of the container, in bytes. */
export function heapSizeMb(daemon: Daemon, limit: number | null): number {
  if (limit === null) return UNLIMITED_MB[daemon];
  return Math.min(MOST_MB, Math.max(LEAST_MB, Math.floor((limit / MIB) * SHARE)));
}

/** An agent is idle most of the time, and there is one on each node. */
const AGENT_NEW_SPACE_MB = 2;
const MOST_NEW_SPACE_MB = 16;
const HEAP_PER_NEW_SPACE = 24;

/**
 * How large each half of the space for new objects may become, in MiB. A controller reads lists in pages of 500 objects: a page that
 * does not fit is moved to the old objects before it is garbage, and collecting those stops the program for longer.
 */
export function newSpaceMb(daemon: Daemon, heapMb: number): number {
  if (daemon === 'agent') return AGENT_NEW_SPACE_MB;
  return Math.min(MOST_NEW_SPACE_MB, Math.max(AGENT_NEW_SPACE_MB, Math.floor(heapMb / HEAP_PER_NEW_SPACE)));
}
