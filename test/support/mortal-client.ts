import type { KubeClient } from '#pkg/kube/client/client.ts';
import { failure } from '#pkg/kube/objects/outcome.ts';

const WRITES = ['create', 'update', 'patch', 'delete'];

type Call = (...args: unknown[]) => unknown;
type Around = (verb: string, call: () => unknown, args: readonly unknown[]) => unknown;

/** The same client with something around each of its calls. */
export function around(client: KubeClient, wrap: Around): KubeClient {
  return new Proxy(client, {
    get(target, verb) {
      const found = Reflect.get(target, verb, target) as unknown;
      if (typeof found !== 'function') return found;
      return (...args: unknown[]) => wrap(String(verb), () => (found as Call).apply(target, args), args);
    },
  });
}

/** A process that dies at its nth write: just before it is sent, or just after it was done, without having heard of it. */
export function mortal(client: KubeClient, diesAt: number, isSent: boolean) {
  const died = Promise.withResolvers<void>();
  let writes = 0;
  let isDead = false;
  const dead = failure('Unreachable', 'this process is dead');
  const wrapped = around(client, async (verb, call) => {
    if (isDead) return dead;
    if (!WRITES.includes(verb)) return call();
    writes += 1;
    if (writes !== diesAt) return call();
    isDead = true;
    if (isSent) await call();
    died.resolve();
    return dead;
  });
  return { client: wrapped, died: died.promise, isDead: () => isDead };
}
