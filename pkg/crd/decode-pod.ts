import { asListOf, asObject, asString, ifPresent, refuse } from '#pkg/decode/untrusted.ts';
import { formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import { decodeController, type OwnerReference } from './decode-owner.ts';
import type { PodLife } from './pod-life.ts';
import { runtimeUid } from './pod-marks.ts';

/** A pod as the API server returns it, with metadata of checked types. */
export interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: unknown;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** What agent, controller and adoption read of a pod in one way. Each of them keeps what it needs. */
export interface DecodedPod extends PodLife {
  readonly namespace: string;
  readonly name: string;
  /** The UID that the runtime passes; for a mirror pod it is the UID of the static pod. */
  readonly uid: string;
  readonly objectUid: string;
  /** Empty while the pod is not scheduled. */
  readonly node: string;
  readonly isHostNetwork: boolean;
  /** `status.reason`, for example Evicted; empty where there is none. */
  readonly reason: string;
  readonly controller: OwnerReference | null;
  /** In canonical form. */
  readonly podIPs: readonly string[];
}

const LONGEST_TEXT = 253;
const MOST_ADDRESSES = 8;

/** Throws where a field that decides something is not what Kubernetes writes: a pod that cannot be read is unknown, not absent. */
export function decodePod({ metadata, spec, status }: PodObject): DecodedPod {
  const { hostNetwork } = asObject(spec ?? {}, 'spec');
  return {
    namespace: asString(metadata.namespace, 'metadata.namespace', LONGEST_TEXT),
    name: asString(metadata.name, 'metadata.name', LONGEST_TEXT),
    uid: asString(runtimeUid(metadata), 'metadata.uid', LONGEST_TEXT),
    objectUid: metadata.uid,
    node: textOf(spec, 'spec', 'nodeName'),
    isHostNetwork: hostNetwork === true,
    phase: textOf(status, 'status', 'phase'),
    reason: textOf(status, 'status', 'reason'),
    deletesAtMs: ifPresent(metadata.deletionTimestamp, asTimeMs) ?? null,
    controller: decodeController(metadata.ownerReferences),
    podIPs: decodePodIps(status),
  };
}

function asTimeMs(value: unknown): number {
  const ms = Date.parse(String(value));
  return Number.isNaN(ms) ? refuse('metadata.deletionTimestamp', 'is not a time') : ms;
}

/** An address that cannot be parsed is in no pool, so it is left out. */
function decodePodIps(status: unknown): readonly string[] {
  const { podIPs } = asObject(status ?? {}, 'status');
  return asListOf(podIPs, 'status.podIPs', (item, path) => asString(asObject(item, path)['ip'] ?? '', `${path}.ip`, 64))
    .map(tryParseAddress)
    .filter((address) => address !== null)
    .slice(0, MOST_ADDRESSES)
    .map(formatAddress);
}

function textOf(part: unknown, path: string, field: string): string {
  return ifPresent(asObject(part ?? {}, path)[field], (text) => asString(text, `${path}.${field}`, LONGEST_TEXT)) ?? '';
}
