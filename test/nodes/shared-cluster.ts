import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { type ClusterPlace, type ReachedCluster, reachCluster } from '#test/real-cluster/cluster-place.ts';

declare module 'vitest' {
  interface ProvidedContext {
    nodeCluster: ClusterPlace;
  }
}

const SERVER = join(import.meta.dirname, '../../hack/cluster-server.ts');

/** Called by vitest before the first file of the project: one cluster for all files; they run one after the other. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = process.env['IPLEDGER_CLUSTER'];
  if (running !== undefined) {
    project.provide('nodeCluster', JSON.parse(await readFile(running, 'utf8')));
    return async () => {};
  }
  const dir = await mkdtemp(join(tmpdir(), 'ipl-nodes-'));
  const place = join(dir, 'place.json');
  const args = [SERVER, '--nodes=3', `--place=${place}`, '--with-stdin'];
  // In a session of its own: Ctrl-C reaches it as the end of its input, after the tests.
  const owner = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'inherit', 'inherit'] });
  const exited = once(owner, 'exit');
  const end = async () => {
    owner.stdin.end();
    await exited;
    await rm(dir, { recursive: true, force: true });
  };
  try {
    project.provide('nodeCluster', await untilWritten(place, () => owner.exitCode ?? owner.signalCode));
  } catch (thrown) {
    await end();
    throw thrown;
  }
  return end;
}

async function untilWritten(file: string, outcome: () => unknown): Promise<ClusterPlace> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text);
    if (outcome() !== null) throw new Error(`the cluster ended with ${outcome()}, see above`);
    await sleep(100);
  }
}

export const sharedCluster = (): ReachedCluster => reachCluster(inject('nodeCluster'));
