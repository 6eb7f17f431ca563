import { serveWhileThere } from '#controller/give/serve-while-there.ts';
import { SHARED_IPS } from '#pkg/kube/objects/vitistack-resources.ts';
import { projectSummaries, type SummarySources } from './project-summaries.ts';
import { reconcileConfigurations } from './reconcile-configurations.ts';
import { reconcileSharedIps } from './reconcile-shared-ips.ts';

export interface ServeProviderOptions extends SummarySources {
  readonly role: string;
  readonly lookEveryMs?: number | undefined;
}

/** What Vitistack expects of its static-ip-operator besides the addresses themselves. Virtual IPs are a kind that may be missing. */
export function serveProvider(options: ServeProviderOptions): AsyncDisposable {
  const { client, log, role, lookEveryMs } = options;
  const stack = new AsyncDisposableStack();
  stack.use(reconcileConfigurations(options));
  stack.use(projectSummaries(options));
  const guest = { client, log, name: SHARED_IPS.kind, role, lookEveryMs, kinds: async () => [SHARED_IPS] };
  stack.use(
    serveWhileThere(guest, (visit) => {
      visit.stack.use(reconcileSharedIps({ ...options, sharedIps: visit.watch(SHARED_IPS) }));
    }),
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
