import type { Hold } from '#controller/give/restore-hold.ts';

interface ExpectedClaim {
  readonly key: string;
  readonly untilMs: number;
}

/**
 * Why a pool gives nothing new to the claim: claims of others, whose cluster is paused or missing, have no IPAddress yet. If a move
 * is on its way to bring it, the number that looks free here is in use.
 */
export function findMoveHold(pool: string, own: string, expected: readonly ExpectedClaim[], now: Date): Hold | null {
  const left = expected
    .filter(({ key }) => key !== own)
    .map(({ key, untilMs }) => ({ key, leftMs: untilMs - now.getTime() }))
    .filter(({ leftMs }) => leftMs > 0);
  if (left.length === 0) return null;
  return {
    // The message does not name them: otherwise each IPAddress that comes would cost a write for each claim that goes on waiting.
    why: `pool ${pool} gives out nothing new while claims of paused or missing clusters wait for the IPAddress that a move brings; it goes on when they are there, or 10 minutes after they were created (kubectl get ipaddressclaims -A: those without a condition Ready)`,
    leftMs: Math.max(...left.map(({ leftMs }) => leftMs)),
  };
}
