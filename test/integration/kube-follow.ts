import { expect, vi } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Failure, Outcome } from '#pkg/kube/objects/outcome.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector, type ReflectorOptions } from '#pkg/kube/watch/reflector.ts';
import { THINGS, thing } from './kube-things.ts';

export const PATIENCE_MS = 60_000;

export interface Followed extends AsyncDisposable {
  readonly known: ReadonlyMap<string, string>;
  readonly events: readonly WatchEvent[];
  readonly troubles: readonly Failure[];
  syncs(): number;
  /** What it knows is what the admin lists. */
  becomesCurrent(): Promise<void>;
}

/** What a handler knows that only listens, with the versions, to be compared with a list. */
export async function follow(
  client: KubeClient,
  admin: KubeClient,
  options: Partial<ReflectorOptions> = {},
): Promise<Followed> {
  const known = new Map<string, string>();
  const events: WatchEvent[] = [];
  const troubles: Failure[] = [];
  const reflector = new Reflector(client, {
    resource: THINGS,
    onEvent: (event) => {
      events.push(event);
      if (event.type === 'Deleted') known.delete(event.identity.name);
      else if (event.type !== 'Synced') known.set(event.object.metadata.name, event.object.metadata.resourceVersion);
    },
    onTrouble: (trouble) => {
      if (trouble.during === 'event') throw trouble.thrown;
      troubles.push(trouble.failure);
    },
    ...options,
  });
  await reflector.synced;
  const isCurrent = async () => {
    const { items } = done(await admin.list(THINGS, options.query ?? {}));
    const truth = items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
    expect([...known].map((entry) => entry.join(' ')).sort()).toEqual(truth.sort());
  };
  return {
    known,
    events,
    troubles,
    syncs: () => events.filter(({ type }) => type === 'Synced').length,
    becomesCurrent: () => vi.waitFor(isCurrent, { timeout: PATIENCE_MS, interval: 50 }),
    [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
  };
}

export function done<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.object;
}

/** Two things that stay, one of them changed, and one that is gone again. */
export async function change(admin: KubeClient, prefix: string): Promise<void> {
  for (const name of [`${prefix}-kept`, `${prefix}-changed`]) done(await admin.create(THINGS, thing(name)));
  done(await admin.patch(THINGS, { name: `${prefix}-changed` }, { spec: { state: 'Cooling' } }));
  const gone = done(await admin.create(THINGS, thing(`${prefix}-gone`)));
  done(await admin.delete(THINGS, gone.metadata));
}
