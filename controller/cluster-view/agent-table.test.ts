import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { readRootFile } from '#test/house/source-files.ts';
import { AGENT_LABELS } from './agent-pods.ts';
import { AgentTable } from './agent-table.ts';
import { trimPod } from './pod-facts.ts';

interface Wish {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ready?: string;
  readonly isEnding?: boolean;
}

function agentPod({
  name = 'agent-a',
  namespace = 'ipledger',
  labels,
  ready = 'True',
  isEnding,
}: Wish = {}): KubeObject {
  return {
    metadata: {
      name,
      namespace,
      uid: name,
      resourceVersion: '1',
      labels: { ...(labels ?? AGENT_LABELS), 'pod-template-generation': '3' },
      ...(isEnding === true ? { deletionTimestamp: '2026-11-16T12:00:00Z' } : {}),
    },
    spec: { nodeName: 'worker-1', containers: [{ name: 'agent' }] },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: ready },
      ],
    },
  };
}

function look() {
  const table = new AgentTable('ipledger');
  table.startLooking(5);
  return table;
}

test('a node whose agent nobody has seen has had none since this leader looks', () => {
  expect(look().sighting('worker-1')).toEqual({ readySinceMs: null, awaySinceMs: 5 });
});

test.each([
  { name: 'whole, as of a watch', trim: (pod: KubeObject) => pod },
  { name: 'trimmed, as of a list', trim: trimPod },
])('a Ready agent, $name', ({ trim }) => {
  const table = look();
  table.see(trim(agentPod()), 10);
  table.see(trim(agentPod()), 20);
  expect(table.sighting('worker-1')).toEqual({ readySinceMs: 10, awaySinceMs: null });
});

test.each<{ readonly name: string; readonly pod: Wish }>([
  { name: 'of another namespace', pod: { namespace: 'tenant' } },
  { name: 'with other labels', pod: { labels: { 'app.kubernetes.io/name': 'ipledger' } } },
  { name: 'that is not Ready', pod: { ready: 'False' } },
  { name: 'that is being deleted', pod: { isEnding: true } },
])('a pod $name is no Ready agent', ({ pod }) => {
  const table = look();
  table.see(agentPod(pod), 10);
  expect(table.sighting('worker-1').readySinceMs).toBeNull();
});

test('a rollout: the agent is away from when the last Ready pod ended until the next one is Ready', () => {
  const table = look();
  table.see(agentPod(), 10);
  table.see(agentPod({ isEnding: true }), 20);
  table.see(agentPod({ name: 'agent-b', ready: 'False' }), 25);
  table.remove('ipledger', 'agent-a', 30);
  expect(table.sighting('worker-1')).toEqual({ readySinceMs: null, awaySinceMs: 20 });
  table.see(agentPod({ name: 'agent-b' }), 40);
  expect(table.sighting('worker-1')).toEqual({ readySinceMs: 40, awaySinceMs: null });
});

test('a rollout with two pods at once leaves no gap', () => {
  const table = look();
  table.see(agentPod(), 10);
  table.see(agentPod({ name: 'agent-b' }), 20);
  table.remove('tenant', 'agent-b', 25);
  table.remove('ipledger', 'agent-a', 30);
  expect(table.sighting('worker-1')).toEqual({ readySinceMs: 10, awaySinceMs: null });
  table.remove('ipledger', 'agent-b', 40);
  expect(table.sighting('worker-1')).toEqual({ readySinceMs: null, awaySinceMs: 40 });
});

test('the labels are those of the DaemonSet that is shipped', () => {
  const shipped = parseAllDocuments(readRootFile('deploy/agent.yaml')).map((it) => it.toJS());
  const labels = shipped.find(({ kind }) => kind === 'DaemonSet').spec.template.metadata.labels;
  expect(labels).toMatchObject(AGENT_LABELS);
});
