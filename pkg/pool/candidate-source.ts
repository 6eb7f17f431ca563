import { NAMESPACE_ANNOTATIONS, POD_ANNOTATIONS } from './annotation-keys.ts';

/** Where candidates may come from, in the order of precedence: the first that exists wins completely. */
const SOURCES = {
  'pod-subnets': `pod annotation ${POD_ANNOTATIONS.subnets}`,
  'pod-subnet': `pod annotation ${POD_ANNOTATIONS.subnet}`,
  'pod-ippools': `pod annotation ${POD_ANNOTATIONS.ippools}`,
  'pod-ippool': `pod annotation ${POD_ANNOTATIONS.ippool}`,
  namespace: `namespace annotation ${NAMESPACE_ANNOTATIONS.v4[0]} or ${NAMESPACE_ANNOTATIONS.v6[0]}`,
  'cni-configuration': 'CNI configuration',
  'default-pools': 'default pools',
} as const;

export type CandidateSource = keyof typeof SOURCES;

export function describeSource(source: CandidateSource): string {
  return SOURCES[source];
}
