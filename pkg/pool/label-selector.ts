import { listSome } from '#pkg/text/text-list.ts';
import type { Labels } from './request.ts';

/** Kubernetes' metav1.LabelSelector: every label and every expression must hold; an empty selector selects everything. */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values: readonly string[];
  }[];
}

export function selects(selector: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(selector.matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    selector.matchExpressions.every((expression) => holds(expression, labelOf(labels, expression.key)))
  );
}

/** As kubectl writes it, cut when long: `app=web, tier in (a, b), !legacy`. */
export function formatSelector(selector: LabelSelector): string {
  const parts = [
    ...Object.entries(selector.matchLabels).map(([key, value]) => `${key}=${value}`),
    ...selector.matchExpressions.map(formatExpression),
  ];
  return listSome(parts, 10);
}

function formatExpression({ key, operator, values }: LabelSelector['matchExpressions'][number]): string {
  switch (operator) {
    case 'In':
      return `${key} in (${listSome(values, 10)})`;
    case 'NotIn':
      return `${key} notin (${listSome(values, 10)})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
}

function holds({ operator, values }: LabelSelector['matchExpressions'][number], value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
