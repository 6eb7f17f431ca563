import {
  asListOf,
  asObject,
  asOneOf,
  asString,
  childPath,
  refuse,
  refuseUnknownFields,
} from '#pkg/decode/untrusted.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { LabelSelector } from '#pkg/pool/label-selector.ts';

type Expression = LabelSelector['matchExpressions'][number];

const NAME = /^[a-z0-9](?:[-_.a-z0-9]{0,61}[a-z0-9])?$/i;
const PREFIX = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
const MOST_LABELS = 1_000;

/** Reads metav1.LabelSelector. `readValue` decides what a value may be. */
export function decodeLabelSelector(value: unknown, path: string, readValue = asLabelValue): LabelSelector {
  const fields = asObject(value, path);
  refuseUnknownFields(fields, path, ['matchLabels', 'matchExpressions']);
  return {
    matchLabels: decodeMatchLabels(fields['matchLabels'], `${path}.matchLabels`, readValue),
    matchExpressions: asListOf(fields['matchExpressions'], `${path}.matchExpressions`, decodeExpression),
  };
}

export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

function asLabelValue(value: unknown, path: string): string {
  const text = asString(value, path, 63);
  if (text !== '' && !NAME.test(text)) refuse(path, `${quote(text)} is not a label value`);
  return text;
}

function decodeMatchLabels(value: unknown, path: string, readValue: typeof asLabelValue): Record<string, string> {
  const entries = Object.entries(asObject(value ?? {}, path));
  if (entries.length > MOST_LABELS) refuse(path, `has ${entries.length} labels, at most ${MOST_LABELS} are allowed`);
  return Object.fromEntries(
    entries.map(([key, item]) => [asLabelKey(key, path), readValue(item, childPath(path, key))]),
  );
}

function decodeExpression(value: unknown, path: string): Expression {
  const fields = asObject(value, path);
  refuseUnknownFields(fields, path, ['key', 'operator', 'values']);
  const key = asLabelKey(fields['key'], `${path}.key`);
  const operator = asOneOf(fields['operator'], `${path}.operator`, OPERATORS);
  const values = asListOf(fields['values'], `${path}.values`, asLabelValue);
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (needsValues !== values.length > 0) {
    refuse(`${path}.values`, needsValues ? `${operator} needs at least one value` : `${operator} takes no values`);
  }
  return { key, operator, values };
}

function asLabelKey(value: unknown, path: string): string {
  const text = asString(value, path, 253 + 1 + 63);
  const slash = text.indexOf('/');
  const prefix = text.slice(0, Math.max(slash, 0));
  const isGood = NAME.test(text.slice(slash + 1)) && (slash === -1 || (prefix.length <= 253 && PREFIX.test(prefix)));
  return isGood ? text : refuse(path, `${quote(text)} is not a label key`);
}
