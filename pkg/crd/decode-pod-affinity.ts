import { asString, refuse } from '#pkg/decode/untrusted.ts';
import type { LabelSelector } from '#pkg/pool/label-selector.ts';
import { decodeLabelSelector, isEmptySelector } from './decode-label-selector.ts';

const PATH = 'spec.podAffinity';
const LONGEST_OBJECT_NAME = 253;
const APPLICATION_KEYS = ['api-group', 'api-version', 'kind', 'namespace', 'name'].map(
  (part) => `ipam.spidernet.io/app-${part}`,
);

export function decodePodAffinity(value: unknown): LabelSelector {
  const selector = decodeLabelSelector(value, PATH);
  if (isEmptySelector(selector)) refuse(PATH, 'must not be empty; leave it out to admit every pod');
  return selector;
}

/** The selector of an auto pool contains the name of its application, which may be longer than a label value. */
export function decodeApplicationAffinity(value: unknown): LabelSelector {
  const selector = decodeLabelSelector(value, PATH, (item, path) => asString(item, path, LONGEST_OBJECT_NAME));
  if (isEmptySelector(selector)) refuse(PATH, 'must not be empty: the pool was made for one application');
  const foreign = Object.keys(selector.matchLabels).find((key) => !APPLICATION_KEYS.includes(key));
  if (foreign !== undefined) refuse(`${PATH}.matchLabels`, `${foreign} is not allowed in an auto pool`);
  if (selector.matchExpressions.length > 0) refuse(`${PATH}.matchExpressions`, 'not allowed in an auto pool');
  return selector;
}
