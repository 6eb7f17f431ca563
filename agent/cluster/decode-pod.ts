import type { PodFacts } from '#agent/sources/pods.ts';
import { asListOf, asObject, asString, ifPresent } from '#pkg/decode/untrusted.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POD_MARKS, runtimeUid } from '#pkg/kube/objects/pod-marks.ts';
import { MULTUS_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import type { Labels } from '#pkg/pool/request.ts';
import { decodeController } from './decode-owner.ts';

/** A pod, and the UID of its object: that of a mirror pod changes while the static pod behind it runs on. */
export interface SeenPod {
  readonly facts: PodFacts;
  readonly objectUid: string;
}

/** The rest, above all last-applied-configuration, would be kept in vain. */
const KEPT: readonly string[] = [...Object.values(POD_MARKS), ...Object.values(MULTUS_ANNOTATIONS)];
const LONGEST_TEXT = 253;

/** Throws where something that decides is not what Kubernetes writes. */
export function decodePod({ metadata, spec, status }: KubeObject): SeenPod {
  const { labels = {}, annotations = {} } = metadata;
  const endedBecause = whyEnded(metadata.deletionTimestamp !== undefined, spec, status);
  const facts: PodFacts = {
    namespace: asString(metadata.namespace, 'metadata.namespace', LONGEST_TEXT),
    name: asString(metadata.name, 'metadata.name', LONGEST_TEXT),
    uid: asString(runtimeUid(metadata), 'metadata.uid', LONGEST_TEXT),
    resourceVersion: metadata.resourceVersion,
    node: textOf(spec, 'spec', 'nodeName'),
    labels,
    annotations: keepAnnotations(annotations),
    controller: decodeController(metadata.ownerReferences),
    isAlive: endedBecause === null,
    ...(endedBecause === null ? {} : { endedBecause }),
    podIPs: decodePodIps(status),
  };
  return { facts, objectUid: metadata.uid };
}

/** As Spiderpool has it: a finished pod may run again only if its policy says so. */
function whyEnded(isDeleted: boolean, spec: unknown, status: unknown): string | null {
  const phase = textOf(status, 'status', 'phase');
  const restartPolicy = textOf(spec, 'spec', 'restartPolicy');
  if (isDeleted) return 'it is being deleted';
  if (phase === 'Succeeded' && restartPolicy !== 'Always')
    return `it has succeeded and its restartPolicy is ${restartPolicy}`;
  if (phase === 'Failed' && restartPolicy === 'Never') return 'it has failed and its restartPolicy is Never';
  if (phase === 'Failed' && textOf(status, 'status', 'reason') === 'Evicted') return 'it was evicted';
  return null;
}

function decodePodIps(status: unknown): readonly string[] {
  const { podIPs } = asObject(status ?? {}, 'status');
  return asListOf(podIPs, 'status.podIPs', (item, path) =>
    asString(asObject(item, path)['ip'] ?? '', `${path}.ip`, 64),
  ).filter((ip) => ip !== '');
}

function textOf(part: unknown, path: string, field: string): string {
  return ifPresent(asObject(part ?? {}, path)[field], (text) => asString(text, `${path}.${field}`, LONGEST_TEXT)) ?? '';
}

function keepAnnotations(annotations: Labels): Labels {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => key.startsWith('ipam.spidernet.io/') || KEPT.includes(key)),
  );
}
