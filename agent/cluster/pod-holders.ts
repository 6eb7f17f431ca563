import { attachmentIn, cniConfigIn } from '#agent/calls/call.ts';
import type { DescribeNetns } from '#agent/node/netns-evidence.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { Standing } from '#agent/owners/owner-verifier.ts';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { NodePod, Pods } from '#agent/sources/pods.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';
import { POD_MARKS } from '#pkg/crd/pod-marks.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { POD_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import { findMultusSelection } from '#pkg/pool/multus-selection.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { parseRoutes } from '#pkg/pool/route-annotation.ts';
import { type Holder, isStickyHolder } from '#pkg/record/ip-record.ts';
import type { NamespaceFacts } from './pod-surroundings.ts';

export interface PodHoldersOptions {
  readonly node: string;
  readonly multusNamespace: string;
  readonly enableStatefulSet: boolean;
  readonly enableKubevirtStaticIP: boolean;
  readonly describeNetns: DescribeNetns;
  /** MULTUS_CLUSTER_NETWORK; null where it is not set. */
  readonly multusClusterNetwork: string | null;
}

export interface PodHoldersPorts {
  readonly pods: Pick<Pods, 'find'>;
  readonly namespaces: { find(name: string): Promise<NamespaceFacts | null> };
  readonly nodeLabels: { current(): Labels };
  readonly controllers: { find(pod: NodePod, wish?: { readonly isFresh: boolean }): Promise<Controller | null> };
  readonly owners: { verify(pod: NodePod, top: Controller): Promise<Standing> };
  /** What was verified once is not read again. */
  readonly index: Pick<NodeIndex, 'ofHolderUid'>;
  /** What the pod says about itself and is not true: it becomes an Event on the pod. */
  readonly onRefused: (pod: NodePod, why: string) => void;
}

/** Holders in a cluster: the pod that the call names, or the VMI whose launcher it is. */
export class PodHolders implements HolderSource {
  readonly #ports: PodHoldersPorts;
  readonly #options: PodHoldersOptions;

  constructor(ports: PodHoldersPorts, options: PodHoldersOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  async resolve(args: AddArgs, wish?: { readonly isFresh: boolean }): Promise<HolderFacts> {
    const pod = await this.#livingPod(args);
    const [controller, namespace] = await Promise.all([
      this.#ports.controllers.find(pod, wish),
      this.#ports.namespaces.find(pod.namespace),
    ]);
    if (namespace === null) {
      throw new IpamError('unknown-pod', `namespace ${pod.namespace} of pod ${pod.name} does not exist any more`);
    }
    const standing = await this.#standingOf(pod, controller);
    const holder = {
      ...this.#attachmentOf(args, pod),
      kind: standing.vmi === null ? ('Pod' as const) : ('VirtualMachineInstance' as const),
      name: standing.vmi ?? pod.name,
      ...(standing.owner === undefined ? {} : { owner: standing.owner }),
      ...(standing.sticky === undefined ? {} : { sticky: standing.sticky }),
    };
    const multus = this.#multusOf(pod, args.ifName);
    const routes = routesOf(pod);
    return {
      holder,
      request: {
        interface: args.ifName,
        node: { name: this.#options.node, labels: this.#ports.nodeLabels.current() },
        namespace: { name: pod.namespace, ...namespace },
        pod: { labels: pod.labels, annotations: pod.annotations },
        controller,
        multusName: multus.multusName,
        interfaceIndex: multus.index,
        multusUnknownBecause: multus.unknownBecause,
        cniConfig: cniConfigIn(args),
      },
      controlledBy: pod.controller,
      podName: pod.name,
      isSticky: isStickyHolder(holder, this.#options),
      isMigrationTarget: standing.isMigrationTarget,
      hasMigrationMark: Object.hasOwn(pod.annotations, POD_MARKS.migrationJob),
      hadSandbox: pod.hadSandbox,
      routes: routes.value,
      warnings: [...standing.refused, ...multus.warnings, ...routes.warnings],
    };
  }

  async #standingOf(pod: NodePod, controller: Controller | null): Promise<Standing> {
    const { owners, index, onRefused } = this.#ports;
    const stored = index.ofHolderUid(pod.uid)[0]?.spec.holder;
    // The stored owner too: a tenant may have written another one into the pod since.
    if (stored?.owner !== undefined) return standingIn(stored);
    if (controller === null) return OWNERLESS;
    const standing = await owners.verify(pod, controller);
    for (const why of standing.refused) onRefused(pod, why);
    return standing;
  }

  async #livingPod({ podNamespace, podName, podUID }: AddArgs): Promise<NodePod> {
    if (podNamespace === '' || podName === '') {
      const message =
        'the call names no pod (K8S_POD_NAMESPACE and K8S_POD_NAME in CNI_ARGS); this agent serves pods only';
      throw new IpamError('bad-input', message);
    }
    const asked = `pod ${podNamespace}/${podName}${podUID === '' ? '' : ` with UID ${podUID}`}`;
    const pod = await this.#ports.pods.find({ namespace: podNamespace, name: podName, uid: podUID });
    if (pod === null) throw new IpamError('unknown-pod', `${asked} does not exist, or not any more`);
    if (podUID !== '' && pod.uid !== podUID) {
      throw new IpamError('unknown-pod', `${asked} was replaced by another with UID ${pod.uid}`);
    }
    if (!pod.isAlive) throw new IpamError('unknown-pod', `${asked} is dead: ${pod.endedBecause ?? 'it has ended'}`);
    return pod;
  }

  #attachmentOf(args: AddArgs, pod: NodePod) {
    return {
      namespace: pod.namespace,
      uid: pod.uid,
      ...attachmentIn(args),
      ...this.#options.describeNetns(args.netNamespace),
      ...(pod.isStatic === true ? { static: true } : {}),
      node: this.#options.node,
    };
  }

  #multusOf({ annotations, namespace }: NodePod, nic: string) {
    const { multusNamespace, multusClusterNetwork: clusterNetwork } = this.#options;
    return findMultusSelection({
      annotations,
      interface: nic,
      podNamespace: namespace,
      multusNamespace,
      clusterNetwork,
    });
  }
}

/** A pod that names no owner: there is nothing to verify. */
const OWNERLESS: Standing = { vmi: null, isMigrationTarget: false, refused: [] };

/** A record of this very pod: a virtual machine that migrates has one of the pod that it comes from. */
function standingIn({ kind, name, owner, sticky }: Holder): Standing {
  return {
    ...(sticky === undefined ? {} : { sticky }),
    vmi: kind === 'VirtualMachineInstance' ? name : null,
    ...(owner === undefined ? {} : { owner }),
    isMigrationTarget: false,
    refused: [],
  };
}

function routesOf({ annotations }: NodePod) {
  const text = annotations[POD_ANNOTATIONS.routes];
  return text === undefined ? { value: [], warnings: [] } : parseRoutes(text);
}
