export interface ListQuery {
  /** Absent for a list over all namespaces, and for cluster scoped kinds. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** It has no resourceVersion: only a list without one is consistent. A list with 0 may miss finished writes. */
export function queryString({ labelSelector, fieldSelector }: ListQuery, more: Parameters = {}): string {
  const given = Object.entries({ labelSelector, fieldSelector, ...more })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return given.length === 0 ? '' : `?${given.join('&')}`;
}
