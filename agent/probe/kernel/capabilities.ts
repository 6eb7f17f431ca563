import { readFileSync } from 'node:fs';

const NEEDED = [
  { name: 'CAP_SYS_ADMIN', bit: 21n, why: 'to enter the network namespace of a pod' },
  { name: 'CAP_NET_RAW', bit: 13n, why: 'to send and receive ARP and NDP' },
  { name: 'CAP_NET_ADMIN', bit: 12n, why: 'to set a link up' },
] as const;

/** Null if this process may probe, else the capability that it lacks and what needs it. */
export function checkProbeCapabilities(): string | null {
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const effective = BigInt(`0x${mask ?? '0'}`);
  const missing = NEEDED.filter(({ bit }) => ((effective >> bit) & 1n) === 0n);
  if (missing.length === 0) return null;
  return `probing needs ${missing.map(({ name, why }) => `${name} (${why})`).join(', ')}`;
}
