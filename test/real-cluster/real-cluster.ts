import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { ServerPlace } from '#test/support/api-server.ts';
import { tagOfThisRun } from '#test/support/run-owner.ts';
import { findClusterPrograms } from './assets.ts';
import { makeCgroup, removeCgroup } from './cgroups.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { prepareImages } from './images.ts';
import { RUN_PREFIX, removeLeftovers } from './leftovers.ts';
import { type RealNode, startNode } from './node.ts';
import { planNodes } from './plan.ts';

export interface RealCluster extends AsyncDisposable {
  readonly control: ControlPlane;
  readonly place: ServerPlace;
  readonly nodes: readonly RealNode[];
}

export interface ClusterWish {
  /** The directory of Debian's containerd 1; otherwise all nodes have containerd 2. */
  readonly containerd1?: string;
  /** The API server keeps a log of what it did for ipledger. */
  readonly isAudited?: boolean;
  /** The main network of all nodes is served by a stand-in of Spiderpool, and no kind of pod needs ipledger. */
  readonly spiderpool?: boolean;
}

/** etcd, the control plane and nodes with kubelet and containerd, all in namespaces of their own. Without ipledger. */
export async function startRealCluster(nodeCount: number, wish: ClusterWish = {}): Promise<RealCluster> {
  const plans = planNodes(nodeCount);
  const programs = await findClusterPrograms();
  await removeLeftovers();
  await using stack = new AsyncDisposableStack();
  const dir = stack.adopt(await mkdtemp(join(tmpdir(), `${RUN_PREFIX}${await tagOfThisRun()}-`)), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const cgroup = stack.adopt(basename(dir), removeCgroup);
  await makeCgroup(cgroup);
  const names = plans.map(({ name }) => name);
  const [images, started] = await Promise.allSettled([
    prepareImages(programs, dir),
    startControlPlane(programs, dir, names, wish),
  ]);
  const control = stack.use(resultOf(started));
  const site = { ...wish, programs, control, dir, cgroup, images: resultOf(images) };
  const booted = await Promise.allSettled(plans.map((plan) => startNode(site, plan)));
  for (const outcome of booted) if (outcome.status === 'fulfilled') stack.use(outcome.value);
  const nodes = booted.map(resultOf);
  const everything = stack.move();
  return { control, place: control.place, nodes, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

function resultOf<T>(outcome: PromiseSettledResult<T>): T {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
