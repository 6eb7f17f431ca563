import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentAtWork } from './pod-cluster.ts';

/** `release`: pending releases. `abandoned`: names that are checked for ten minutes, because a create may still arrive. */
export async function journalOf(
  { directory }: AgentAtWork,
  kind: 'release' | 'abandoned' | '' = '',
): Promise<string[]> {
  return (await readdir(join(directory, 'data', 'journal'))).filter((file) => file.startsWith(kind));
}
