/** What the rules may know about the holder that asks. Absent facts (no Kubernetes) are empty, never guessed. */
export interface PoolRequest {
  readonly interface: string;
  readonly node: { readonly name: string; readonly labels: Labels };
  readonly namespace: { readonly name: string; readonly labels: Labels; readonly annotations: Labels };
  readonly pod: { readonly labels: Labels; readonly annotations: Labels };
  /** The pod's top controller; null for a bare pod and without Kubernetes. */
  readonly controller: Controller | null;
  /** Why the pod does not count as one of its controller, though it says so. Only looked into for pools that are made for one application. */
  readonly controllerDoubt?: string | null;
  /** `namespace/name` of the NetworkAttachmentDefinition behind this interface; null when unknown. */
  readonly multusName: string | null;
  /** Position of this interface in the Multus selection, eth0 = 0; null when unknown. Places unnamed `ippools` items. */
  readonly interfaceIndex: number | null;
  /** Why one of these two is not known; completes an objection. */
  readonly multusUnknownBecause?: string | null;
  readonly cniConfig: {
    readonly ipv4: readonly string[];
    readonly ipv6: readonly string[];
    readonly cleanGateway: boolean;
    readonly matchMasterSubnet: boolean;
  };
}

export type Labels = Readonly<Record<string, string>>;

export interface Controller {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
