import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import {
  type ControllerStage,
  expectCollected,
  held,
  PATIENCE,
  QUICK,
  runController,
  startControllerStage,
  untilState,
} from './controller-stage.ts';

let stage: ControllerStage;

beforeAll(async () => {
  stage = await startControllerStage();
  await stage.setNode('worker-1', true);
  return () => stage[Symbol.asyncDispose]();
});

test('of pods deleted by force on a node that is well one with a long grace keeps its address for it; others become Suspect, adopted ones too', async () => {
  const usual = await stage.pod('usual', { graceSeconds: 30, address: '10.0.0.1' });
  const slow = await stage.pod('slow', { graceSeconds: 600, address: '10.0.0.2' });
  // As adopted: of its sandbox nothing is known, so no DEL within the grace of its pod frees it.
  const adopted = await stage.pod('adopted', { graceSeconds: 30, address: '10.0.0.3' });
  await stage.record('10.0.0.1', held(usual));
  await stage.record('10.0.0.2', held(slow));
  const { spec } = await stage.record('10.0.0.3', held(adopted));
  const { containerID: _c, netns: _n, network: _w, ...holder } = spec.holder;
  const before = await stage.ledger.get('10.0.0.3');
  if (before !== null) await stage.ledger.amend(before, { ...spec, holder });
  await using running = runController(stage);
  await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
  await wait(QUICK.settleMs + 2 * QUICK.sweepEveryMs); // every pod was seen
  for (const pod of [usual, slow, adopted]) await stage.forceDelete(pod);
  for (const name of ['10.0.0.1', '10.0.0.3']) await untilState(stage, name, 'Suspect');
  await wait(2 * QUICK.settleMs + 2 * QUICK.sweepEveryMs);
  expect((await stage.ledger.get('10.0.0.2'))?.spec.state).toBe('Allocated');
  await expectCollected(running).toEqual([['pod-gone', 2]]);
});
