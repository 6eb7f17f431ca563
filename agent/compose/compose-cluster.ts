import type { Logger } from 'pino';
import type { ProbeSettings } from '#agent/allocate/address-probe.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { judgeSandbox, needsSandboxLook } from '#agent/cluster/judge-sandbox.ts';
import type { NodeWatches } from '#agent/cluster/node-watches.ts';
import { PodHolders } from '#agent/cluster/pod-holders.ts';
import { podReleaseDecision } from '#agent/cluster/pod-release-decision.ts';
import { refuseReleaseBy } from '#agent/cluster/refuse-release.ts';
import { SubnetShortages } from '#agent/cluster/subnet-shortages.ts';
import type { Spool } from '#agent/debts/spool.ts';
import { isOfNode } from '#agent/node/is-own.ts';
import { describeNetnsOn } from '#agent/node/netns-evidence.ts';
import { looksFrom, type NetnsSight } from '#agent/node/netns-look.ts';
import { ApplicationVerifier } from '#agent/owners/application-verifier.ts';
import { OwnerVerifier } from '#agent/owners/owner-verifier.ts';
import type { ReadObject } from '#agent/owners/seen-owner.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { HolderFacts } from '#agent/sources/holder-source.ts';
import { sweepTimingOf } from '#agent/suspects/sweep-timing.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { AgentEnv } from './agent-env.ts';
import { planOptionsOf } from './agent-settings.ts';
import { type ComposedAgent, composeAgent } from './compose-agent.ts';
import type { AgentPorts } from './compose-ports.ts';
import type { NodeLedger } from './open-ledger.ts';
import type { OperatorReports } from './operator-reports.ts';

const OWNER_READ_TIMEOUT_MS = 5_000;

interface ClusterPorts {
  readonly config: ClusterConfig;
  readonly env: AgentEnv;
  readonly client: KubeClient;
  readonly watches: NodeWatches;
  readonly nodeLedger: NodeLedger;
  readonly spool: Spool;
  readonly sight: NetnsSight;
  readonly prober: AgentPorts['prober'];
  readonly probeSettings: ProbeSettings;
  readonly reports: OperatorReports;
  readonly metrics: AgentMetrics;
  readonly events: Events;
  readonly nowMs: () => number;
  readonly log: Logger;
  readonly failpoint: Failpoint | undefined;
}

/** The agent of a node of a cluster: holders are pods, and what they say about their owners is verified. */
export function composeCluster(ports: ClusterPorts): ComposedAgent {
  const { config, env, client, watches, sight, reports, nowMs } = ports;
  const { nodeName: node } = env;
  const { pods } = watches;
  const readOwner: ReadObject = (resource, at) => client.get(resource, at, { timeoutMs: OWNER_READ_TIMEOUT_MS });
  const beginLooks = looksFrom(sight);
  const { ledger, journal, answered, index } = ports.nodeLedger;
  return composeAgent({
    ledger,
    journal,
    answered,
    index,
    node,
    isOwn: isOfNode(node),
    spool: ports.spool,
    catalog: watches.pools,
    planOptions: planOptionsOf(config, env),
    exhaustedWaitMs: config.exhaustedWaitSeconds * 1000,
    holders: podHolders(ports, readOwner),
    applications: new ApplicationVerifier(readOwner, nowMs),
    shortages: new SubnetShortages(client, nowMs),
    isStillAlive: async ({ holder, podName }: HolderFacts) => {
      const pod = await pods.read({ namespace: holder.namespace, name: podName, uid: holder.uid });
      return pod?.uid === holder.uid && pod.isAlive;
    },
    decideRelease: podReleaseDecision(pods, config),
    refuseRelease: refuseReleaseBy(node, { pods, look: ({ spec }: IpRecord) => beginLooks()(spec.holder) }),
    sight,
    needsLook: needsSandboxLook(pods),
    judgeLeftover: judgeSandbox(pods),
    prober: ports.prober,
    probeSettings: ports.probeSettings,
    sweepTiming: sweepTimingOf(config.suspectReleaseMinutes),
    metrics: ports.metrics,
    events: ports.events,
    onOutliving: reports.onOutliving,
    onConflict: reports.onConflict,
    nowMs,
    log: ports.log,
    failpoint: ports.failpoint,
  });
}

function podHolders({ config, env, watches, nodeLedger, sight, reports, nowMs }: ClusterPorts, readOwner: ReadObject) {
  const { pods, namespaces, nodeLabels, controllers } = watches;
  const { nodeName: node, multusNamespace, multusClusterNetwork } = env;
  const owners = new OwnerVerifier(readOwner, config, nowMs);
  const { onRefused } = reports;
  return new PodHolders(
    { pods, namespaces, nodeLabels, controllers, owners, index: nodeLedger.index, onRefused },
    {
      ...config,
      node,
      multusNamespace,
      multusClusterNetwork: multusClusterNetwork === '' ? null : multusClusterNetwork,
      describeNetns: describeNetnsOn(sight.host),
    },
  );
}
