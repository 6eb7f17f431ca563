import { existsSync } from 'node:fs';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { PodFacts, Pods } from '#agent/sources/pods.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';
import { POD_MARKS } from '#pkg/crd/pod-marks.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { POD_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import { findMultusSelection } from '#pkg/pool/multus-selection.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { parseRoutes } from '#pkg/pool/route-annotation.ts';
import { isStickyHolder, isVirtualMachine } from '#pkg/record/holder.ts';
import type { NamespaceFacts } from './namespace-cache.ts';

export interface PodHoldersOptions {
  readonly node: string;
  readonly multusNamespace: string;
  readonly enableStatefulSet: boolean;
  readonly enableKubevirtStaticIP: boolean;
  /** MULTUS_CLUSTER_NETWORK; null where it is not set. */
  readonly multusClusterNetwork: string | null;
}

export interface PodHoldersPorts {
  readonly pods: Pick<Pods, 'find'>;
  readonly namespaces: { find(name: string): Promise<NamespaceFacts | null> };
  readonly nodeLabels: { current(): Labels };
  readonly controllers: { find(pod: PodFacts): Promise<Controller | null> };
}

/** In a cluster the pod says who asks. */
export class PodHolders implements HolderSource {
  readonly #ports: PodHoldersPorts;
  readonly #options: PodHoldersOptions;

  constructor(ports: PodHoldersPorts, options: PodHoldersOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  async resolve(args: AddArgs): Promise<HolderFacts> {
    const pod = await this.#livingPod(args);
    const [controller, namespace] = await Promise.all([
      this.#ports.controllers.find(pod),
      this.#ports.namespaces.find(pod.namespace),
    ]);
    if (namespace === null) {
      throw new IpamError('bad-input', `namespace ${pod.namespace} of pod ${pod.name} does not exist any more`);
    }
    const machine = this.#options.enableKubevirtStaticIP && isVirtualMachine(controller) ? controller : null;
    const holder = {
      ...this.#attachmentOf(args, pod),
      kind: machine === null ? ('Pod' as const) : ('VirtualMachineInstance' as const),
      name: machine?.name ?? pod.name,
      ...ownerOf(controller),
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
        cniConfig: {
          ipv4: args.defaultIPv4IPPool ?? [],
          ipv6: args.defaultIPv6IPPool ?? [],
          cleanGateway: args.cleanGateway ?? false,
          matchMasterSubnet: args.matchMasterSubnet ?? false,
        },
      },
      podName: pod.name,
      isSticky: isStickyHolder(holder, this.#options),
      isMigrationTarget: machine !== null && Object.hasOwn(pod.annotations, POD_MARKS.migrationJob),
      routes: routes.value,
      warnings: [...multus.warnings, ...routes.warnings],
    };
  }

  async #livingPod({ podNamespace, podName, podUID }: AddArgs): Promise<PodFacts> {
    if (podNamespace === '' || podName === '') {
      const message =
        'the call names no pod (K8S_POD_NAMESPACE and K8S_POD_NAME in CNI_ARGS); this agent serves pods only';
      throw new IpamError('bad-input', message);
    }
    const asked = `pod ${podNamespace}/${podName}${podUID === '' ? '' : ` with UID ${podUID}`}`;
    const pod = await this.#ports.pods.find({ namespace: podNamespace, name: podName, uid: podUID });
    if (pod === null) throw new IpamError('bad-input', `${asked} does not exist, or not any more`);
    if (podUID !== '' && pod.uid !== podUID) {
      throw new IpamError('bad-input', `${asked} was replaced by another with UID ${pod.uid}`);
    }
    if (!pod.isAlive) throw new IpamError('bad-input', `${asked} is dead: ${pod.endedBecause ?? 'it has ended'}`);
    return pod;
  }

  #attachmentOf(args: AddArgs, pod: PodFacts) {
    // Synchronous on purpose: a look at tmpfs or /proc is cheaper than a trip through the thread pool.
    const isVisible = existsSync(args.netNamespace);
    return {
      namespace: pod.namespace,
      uid: pod.uid,
      interface: args.ifName,
      ...(args.network === undefined ? {} : { network: args.network }),
      containerID: args.containerID,
      ...(isVisible ? { netns: args.netNamespace } : {}),
      node: this.#options.node,
    };
  }

  #multusOf({ annotations, namespace }: PodFacts, nic: string) {
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

function ownerOf(controller: Controller | null) {
  if (controller === null) return {};
  const { apiVersion, kind, name } = controller;
  return { owner: { apiVersion, kind, name } };
}

function routesOf({ annotations }: PodFacts) {
  const text = annotations[POD_ANNOTATIONS.routes];
  return text === undefined ? { value: [], warnings: [] } : parseRoutes(text);
}
