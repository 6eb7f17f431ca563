export interface ListQuery {
  /** Absent: over all namespaces, or a cluster scoped kind. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** No resourceVersion in it: only a list without one is consistent, one with 0 may miss finished writes. */
export function queryString({ labelSelector, fieldSelector }: ListQuery, more: Parameters = {}): string {
  const given = Object.entries({ labelSelector, fieldSelector, ...more })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return given.length === 0 ? '' : `?${given.join('&')}`;
}
