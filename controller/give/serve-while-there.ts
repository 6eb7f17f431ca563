import type { Logger } from 'pino';
import { type ObjectView, watchObjects } from '#controller/cluster-view/object-view.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { type KubeObject, type Resource, withoutManagedFields } from '#pkg/kube/objects/kube-object.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';
import { whyNotServed } from './why-not-served.ts';

interface Guest {
  readonly client: KubeClient;
  readonly log: Logger;
  /** What is served, for the log. */
  readonly name: string;
  /** The role that it needs. */
  readonly role: string;
  /** All of them must be there. Asked each time, because another version of a kind may come. Null: they are not here. */
  readonly kinds: () => Promise<readonly Resource[] | null>;
  /** Whether it may begin. Asked when all kinds are there, again and again until it is true; by default it may. */
  readonly mayBegin?: () => Promise<boolean>;
  /** Asked while they are not here, until it is not null: it is logged once. */
  readonly whyNotHere?: () => Promise<string | null>;
  readonly lookEveryMs?: number | undefined;
}

export interface Visit {
  readonly stack: AsyncDisposableStack;
  /** A cache of the kind. If the kind is not served any more, the visit ends. */
  readonly watch: (resource: Resource, trim?: (object: KubeObject) => KubeObject) => ObjectView;
}

const LOOK_EVERY_MS = 30_000;

/** Waits, without watches, until kinds of another project are served, and serves them while they are. */
export function serveWhileThere(
  guest: Guest,
  serve: (visit: Visit, kinds: readonly Resource[]) => void,
): AsyncDisposable {
  const stop = new AbortController();
  const running = run(guest, serve, stop.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

async function run(guest: Guest, serve: Parameters<typeof serveWhileThere>[1], signal: AbortSignal): Promise<void> {
  const { client, log, name, role, lookEveryMs = LOOK_EVERY_MS } = guest;
  let isRefused = false;
  let isExplained = guest.whyNotHere === undefined;
  while (!signal.aborted) {
    const kinds = await guest.kinds();
    const because = kinds === null ? 'NotServed' : await whyNotServed(client, kinds);
    if (kinds !== null && because === null) {
      isRefused = false;
      isExplained = guest.whyNotHere === undefined;
      const mayBegin = (await guest.mayBegin?.()) ?? true;
      if (mayBegin) await serveUntilGone(guest, (visit) => serve(visit, kinds), signal);
    } else if (because === 'Forbidden' && !isRefused) {
      isRefused = true;
      log.warn(
        { project: name, role },
        'the kinds of this project are here, and the controller has no rights on them: apply the role',
      );
    } else if (because === 'NotServed' && !isExplained) {
      const why = (await guest.whyNotHere?.()) ?? null;
      isExplained = why !== null;
      if (why !== null) log.warn(why);
    }
    await sleep(client.timing, lookEveryMs, signal);
  }
}

async function serveUntilGone(
  { client, log, name }: Guest,
  serve: (visit: Visit) => void,
  signal: AbortSignal,
): Promise<void> {
  const gone = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => gone.resolve(), { once: true });
  if (signal.aborted) return;
  await using stack = new AsyncDisposableStack();
  log.info({ project: name }, 'the kinds of this project are here: they are served');
  const watch: Visit['watch'] = (resource, trim = withoutManagedFields) =>
    stack.use(
      watchObjects(client, {
        resource,
        trim,
        onTrouble: (trouble) => {
          if (trouble.during !== 'event' && trouble.failure.because === 'NotServed') gone.resolve();
          log.warn({ resource: resource.plural, ...trouble }, 'watch interrupted');
        },
      }),
    );
  serve({ stack, watch });
  await gone.promise;
}
