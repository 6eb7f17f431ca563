const LANGUAGE = [
  'absent',
  'and',
  'by',
  'count',
  'histogram_quantile',
  'increase',
  'label_values',
  'max',
  'or',
  'rate',
  'sum',
  'vector',
];

/** Names in an expression that are neither labels nor keywords; a bucket counts as its histogram. */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/\{[^}]*\}|"[^"]*"|\[[^\]]*\]/g, ' ')
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, ' ')
    .replace(/(label_values\([^,]*),[^)]*/, '$1');
  const names = bare.match(/[a-zA-Z_:][a-zA-Z0-9_:]*/g) ?? [];
  return names.filter((name) => !LANGUAGE.includes(name)).map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}

/** Labels in selectors and groupings. */
export function labelsIn(expr: string): string[] {
  const matchers = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) => inner.match(/\w+(?=\s*[=!])/g) ?? []);
  return [...matchers, ...groupsIn(expr)].filter((label) => label !== 'le');
}

/** The labels of `by (…)`. */
function groupsIn(expr: string): string[] {
  const groups = [...expr.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, inner = '']) => inner.split(/[\s,]+/));
  return groups.filter((label) => label !== '');
}

/** The labels that the result has, where its metrics have `labels`. */
export function labelsLeft(expr: string, labels: readonly string[]): readonly string[] {
  return /\b(sum|max|count|absent)\b/.test(expr) ? groupsIn(expr) : labels;
}

/** Each metric with the job that its selector asks for; null where it asks for none. */
export function jobsIn(expr: string): { metric: string; job: string | null }[] {
  const asked = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].map(([, metric = '', inner = '']) => ({
    metric,
    job: /(?:^|[\s,])job="([^"]*)"/.exec(inner)?.[1] ?? null,
  }));
  const bare = metricsIn(expr.replace(/\w+\{[^}]*\}/g, ' '));
  return [...asked, ...bare.map((metric) => ({ metric, job: null }))];
}
