/** How long a round over spool or journal may take: each entry may take seconds, and a starting agent waits for the round. */
export const ROUND_MS = 10_000;
