import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { toRetained } from '#pkg/record/released-spec.ts';
import {
  type ControllerStage,
  held,
  PATIENCE,
  QUICK,
  runController,
  startControllerStage,
  untilNames,
  untilState,
} from './controller-stage.ts';

const SETS = '/apis/apps/v1/namespaces/prod/statefulsets';

let stage: ControllerStage;

beforeAll(async () => {
  stage = await startControllerStage();
  return () => stage[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await stage.cluster.clear();
  for (const path of [SETS, '/api/v1/namespaces/prod/pods'])
    await stage.admin('DELETE', path, { gracePeriodSeconds: 0 });
  await stage.setNode('worker-1', true);
});

/** Long enough for any wrong write to happen. */
const meanwhile = () => wait(QUICK.settleMs + 2 * QUICK.sweepEveryMs + 1_000);

async function makeSet(range: { readonly replicas: number; readonly ordinals?: { readonly start: number } }) {
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'main' }] },
  };
  const { metadata } = await stage.admin<{ metadata: { uid: string } }>('POST', SETS, {
    metadata: { name: 'web' },
    spec: { ...range, serviceName: 'web', selector: { matchLabels: { app: 'web' } }, template },
  });
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: metadata.uid };
}

const stateOf = async (name: string) => (await stage.ledger.get(name))?.spec.state;
const statesOf = (names: readonly string[]) => Promise.all(names.map(stateOf));

/** Pods of these ordinals, each with the address that ends in its ordinal. */
async function populate({ uid, ...owner }: Awaited<ReturnType<typeof makeSet>>, ordinals: readonly number[]) {
  const making = ordinals.map((at) => stage.pod(`web-${at}`, { address: `10.0.1.${at}`, owner: { ...owner, uid } }));
  const pods = await Promise.all(making);
  for (const [at, pod] of pods.entries()) await stage.record(`10.0.1.${ordinals[at]}`, { ...held(pod), owner });
  return pods;
}

describe('a StatefulSet', () => {
  test('restarts a pod: its address is retained at once; scaled away: it comes back if its DEL came, and is Suspect otherwise', async () => {
    const pods = await populate(await makeSet({ replicas: 3 }), [0, 1, 2]);
    const ended = await stage.ledger.get('10.0.1.2');
    if (ended !== null) await stage.ledger.amend(ended, toRetained(ended.spec)); // as its agent does at the DEL
    await using running = runController(stage);
    for (const pod of pods) await stage.forceDelete(pod);
    const { spec } = await untilState(stage, '10.0.1.1', 'Retained');
    expect(spec.holder).toMatchObject({ uid: pods[1]?.uid, containerID: 'container-0' });
    await meanwhile();
    expect(await statesOf(['10.0.1.0', '10.0.1.1', '10.0.1.2'])).toEqual(['Retained', 'Retained', 'Retained']);
    expect(running.told.map(({ reason }) => reason)).toEqual(['AddressRetainedInDoubt', 'AddressRetainedInDoubt']);
    await stage.admin('PATCH', `${SETS}/web`, { spec: { replicas: 1 } });
    await untilNames(stage, ['10.0.1.0', '10.0.1.1']);
    await untilState(stage, '10.0.1.1', 'Suspect');
    await stage.admin('DELETE', `${SETS}/web`, { propagationPolicy: 'Background' });
    await untilState(stage, '10.0.1.0', 'Suspect');
  });

  test('deleted while the node of a record in doubt is away: Suspect', async () => {
    const [pod] = await populate(await makeSet({ replicas: 1 }), [0]);
    if (pod === undefined) throw new Error('no pod');
    await using _running = runController(stage);
    await stage.setNode('worker-1', false);
    await stage.forceDelete(pod);
    await untilState(stage, '10.0.1.0', 'Retained');
    await stage.admin('DELETE', `${SETS}/web`, { propagationPolicy: 'Background' });
    await untilState(stage, '10.0.1.0', 'Suspect');
  });

  test('whose ordinals start at 5: the addresses of web-5 and web-6 are retained, that of web-4 is given up; scaled to one: that of web-6', async () => {
    const pods = await populate(await makeSet({ replicas: 3, ordinals: { start: 4 } }), [4, 5, 6]);
    await using _running = runController(stage);
    for (const pod of pods) await stage.forceDelete(pod);
    const names = ['10.0.1.4', '10.0.1.5', '10.0.1.6'];
    await vi.waitUntil(async () => (await statesOf(names)).every((state) => state === 'Retained'), PATIENCE);
    await stage.admin('PATCH', `${SETS}/web`, { spec: { replicas: 2, ordinals: { start: 5 } } });
    await untilState(stage, '10.0.1.4', 'Suspect');
    await meanwhile();
    expect(await statesOf(names)).toEqual(['Suspect', 'Retained', 'Retained']);
    await stage.admin('PATCH', `${SETS}/web`, { spec: { replicas: 1 } });
    await untilState(stage, '10.0.1.6', 'Suspect');
    await meanwhile();
    expect(await statesOf(names)).toEqual(['Suspect', 'Retained', 'Suspect']);
  });

  test('whose pod runs again with another address: the one it left is Suspect', async () => {
    const { uid, ...owner } = await makeSet({ replicas: 1 });
    const first = await stage.pod('web-0', { address: '10.0.1.5', owner: { ...owner, uid } });
    await stage.record('10.0.1.5', { ...held(first), owner });
    await using running = runController(stage);
    await stage.forceDelete(first);
    await untilState(stage, '10.0.1.5', 'Retained');
    const second = await stage.pod('web-0', { address: '10.0.1.6', owner: { ...owner, uid } });
    await stage.record('10.0.1.6', { ...held(second), owner });
    await untilState(stage, '10.0.1.5', 'Suspect');
    expect([...running.collected]).toEqual([
      ['pod-gone', 1],
      ['not-taken', 1],
    ]);
  });
});
