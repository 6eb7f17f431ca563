import type { AgentSighting } from '#controller/cluster-view/agent-table.ts';
import type { NodeLease } from '#controller/cluster-view/node-lease.ts';
import type { NodeSighting } from '#controller/cluster-view/node-table.ts';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import type { Evidence } from '#controller/judge/evidence.ts';
import type { Holder, IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { buildRecord } from './build-record.ts';

/** The time of every judgement: an hour after this leader started. */
export const NOW_MS = 3_600_000;
export const WALL_MS = Date.parse('2026-11-16T12:00:00Z');
export const STATEFUL_SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-1' };

/** A running pod `prod/web-0` on `worker-1` with the address of `buildPodRecord`. */
export function buildPod(change: Partial<PodFacts> = {}): PodFacts {
  return {
    namespace: 'prod',
    name: 'web-0',
    uid: 'pod-1',
    objectUid: 'pod-1',
    node: 'worker-1',
    phase: 'Running',
    isHostNetwork: false,
    deletesAtMs: null,
    graceSeconds: 30,
    controller: null,
    isMigrationTarget: false,
    podIPs: ['10.0.0.5'],
    haveAllEnded: false,
    isAnyRunning: true,
    finishedAtMs: null,
    subnetWish: null,
    ...change,
  };
}

/** The record of that pod. */
export function buildPodRecord(holder: Partial<Holder> = {}, spec: Partial<Omit<RecordSpec, 'holder'>> = {}): IpRecord {
  const pod: Partial<Holder> = { kind: 'Pod', namespace: 'prod', name: 'web-0', uid: 'pod-1', node: 'worker-1' };
  return buildRecord({ ...spec, holder: { ...pod, ...holder } });
}

const LEASE: NodeLease = {
  renewTime: '2026-11-16T11:59:55.000000Z',
  renewedAtMs: NOW_MS - 5_000,
  steadySinceMs: 0,
};
export const NODE_HERE: NodeSighting = {
  node: { isReady: true, isOutOfService: false },
  goneSinceMs: null,
  readySinceMs: 0,
  lease: LEASE,
  lookedSinceMs: 0,
};
export const NODE_NOT_READY: NodeSighting = {
  ...NODE_HERE,
  node: { isReady: false, isOutOfService: false },
  readySinceMs: null,
};
export const NODE_STALE: NodeSighting = { ...NODE_HERE, lease: { ...LEASE, renewedAtMs: NOW_MS - 26_000 } };
/** Always Ready, and its lease has been renewed again for this time. */
export const nodeSteadyFor = (seconds: number): NodeSighting => ({
  ...NODE_HERE,
  lease: { ...LEASE, steadySinceMs: NOW_MS - seconds * 1_000 },
});
/** Its lease was always renewed, and it has been Ready again for this time. */
export const nodeReadyFor = (seconds: number): NodeSighting => ({
  ...NODE_HERE,
  readySinceMs: NOW_MS - seconds * 1_000,
});
export const NODE_UNSEEN: NodeSighting = {
  ...NODE_HERE,
  lease: { ...LEASE, renewedAtMs: null },
  lookedSinceMs: NOW_MS - 10_000,
};
export const NODE_OUT_OF_SERVICE: NodeSighting = { ...NODE_NOT_READY, node: { isReady: false, isOutOfService: true } };
export const nodeGoneFor = (seconds: number): NodeSighting => ({
  ...NODE_HERE,
  node: null,
  readySinceMs: null,
  goneSinceMs: NOW_MS - seconds * 1_000,
});

export const AGENT_READY: AgentSighting = { readySinceMs: 0, awaySinceMs: null };
export const agentReadyFor = (seconds: number): AgentSighting => ({
  readySinceMs: NOW_MS - seconds * 1_000,
  awaySinceMs: null,
});
export const agentAwayFor = (seconds: number): AgentSighting => ({
  readySinceMs: null,
  awaySinceMs: NOW_MS - seconds * 1_000,
});

/** Nothing is known of the pod, for long already; its node is well and has a Ready agent. */
export function buildEvidence(change: Partial<Evidence> = {}): Evidence {
  return {
    nowMs: NOW_MS,
    wallMs: WALL_MS,
    steadySinceMs: 0,
    firstSeenMs: 0,
    pod: null,
    launchers: [],
    claimants: [],
    node: NODE_HERE,
    agent: AGENT_READY,
    owner: 'unread',
    ownerAbsentSinceMs: NOW_MS - 3_000_000,
    goneSinceMs: change.pod == null ? NOW_MS - 3_000_000 : null,
    finishedSinceMs: null,
    idleSinceMs: null,
    notServedSinceMs: null,
    retainedBefore: 0,
    isSuperseded: false,
    graceMs: null,
    ...change,
  };
}
