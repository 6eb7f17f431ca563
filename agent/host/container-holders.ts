import { attachmentIn, cniConfigIn } from '#agent/calls/call.ts';
import { type DescribeNetns, describeNetnsOn, type HostIdentity } from '#agent/node/netns-evidence.ts';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';

/**
 * Without Kubernetes the holder comes from the CNI call: a pod by its UID where the runtime sends one, else the container.
 * Labels and annotations are unknown, so pools that ask for them object.
 */
export class ContainerHolders implements HolderSource {
  readonly #node: string;
  readonly #host: HostIdentity;
  readonly #describeNetns: DescribeNetns;

  constructor(node: string, host: HostIdentity) {
    this.#node = node;
    this.#host = host;
    this.#describeNetns = describeNetnsOn(host);
  }

  async resolve(args: AddArgs): Promise<HolderFacts> {
    const isPod = args.podUID !== '' && args.podName !== '';
    return {
      holder: {
        kind: 'Container',
        namespace: isPod ? args.podNamespace : '',
        name: isPod ? args.podName : args.containerID,
        uid: isPod ? args.podUID : args.containerID,
        ...attachmentIn(args),
        ...this.#host,
        ...this.#describeNetns(args.netNamespace),
        node: this.#node,
      },
      request: {
        interface: args.ifName,
        node: { name: this.#node, labels: {} },
        namespace: { name: args.podNamespace, labels: {}, annotations: {} },
        pod: { labels: {}, annotations: {} },
        controller: null,
        multusName: null,
        interfaceIndex: null,
        cniConfig: cniConfigIn(args),
      },
      controlledBy: null,
      podName: args.podName,
      isSticky: false,
      isMigrationTarget: false,
      hadSandbox: false,
      hasMigrationMark: false,
      routes: [],
      warnings: [],
    };
  }
}
