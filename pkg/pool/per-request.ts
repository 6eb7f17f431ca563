import type { PoolRequest } from './request.ts';

type Read<V> = { readonly value: V } | { readonly thrown: unknown };

/**
 * What is read from a request, read once. A call that waits looks again at every change of the pools, and its annotations may be
 * 64 KiB of a tenant's JSON: read each time, those of the pods of one node would keep all other calls waiting.
 */
export function perRequest<V>(read: (request: PoolRequest) => V): (request: PoolRequest) => V {
  const known = new WeakMap<PoolRequest, Read<V>>();
  return (request) => {
    const found = known.get(request) ?? tryRead(read, request);
    known.set(request, found);
    if ('thrown' in found) throw found.thrown;
    return found.value;
  };
}

function tryRead<V>(read: (request: PoolRequest) => V, request: PoolRequest): Read<V> {
  try {
    return { value: read(request) };
  } catch (thrown) {
    return { thrown };
  }
}
