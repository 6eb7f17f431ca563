import { asDnsLabel, childPath, type Fields, ifPresent } from '#pkg/decode/untrusted.ts';
import { DEFAULT_DOMAIN } from '#pkg/record/record-metadata.ts';

export const DOMAIN_ANNOTATION = 'ipledger.io/domain';

export function decodeDomain(annotations: Fields): string {
  const path = childPath('metadata.annotations', DOMAIN_ANNOTATION);
  return ifPresent(annotations[DOMAIN_ANNOTATION], (domain) => asDnsLabel(domain, path)) ?? DEFAULT_DOMAIN;
}
