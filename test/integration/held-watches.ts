import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import type { OpenStream } from '#pkg/kube/transport/exchange.ts';
import { around } from '#test/support/mortal-client.ts';

interface HeldWatches {
  readonly client: KubeClient;
  /** The number of calls since the last change between `hold` and `letGo`. */
  count(verb: string, kind: Resource): number;
  /** From now on nothing is heard of these kinds. */
  hold(): void;
  letGo(): void;
}

/** The same client, whose watches of these kinds can be held: what happens meanwhile is heard later, and all of it. */
export function holdWatches(client: KubeClient, kinds: readonly Resource[]): HeldWatches {
  const streams = new Set<OpenStream['stream']>();
  let calls: string[] = [];
  let isHeld = false;
  const wrapped = around(client, async (verb, call, [kind]) => {
    calls.push(`${verb} ${(kind as Partial<Resource> | undefined)?.plural}`);
    const outcome = await call();
    if (verb !== 'openWatch' || !kinds.includes(kind as Resource)) return outcome;
    const opened = outcome as OpenStream | Failure;
    if (!('stream' in opened)) return opened;
    streams.add(opened.stream);
    opened.stream.once('close', () => streams.delete(opened.stream));
    if (isHeld) opened.stream.pause();
    return opened;
  });
  const turn = (held: boolean) => {
    calls = [];
    isHeld = held;
    for (const stream of streams) held ? stream.pause() : stream.resume();
  };
  return {
    client: wrapped,
    count: (verb, kind) => calls.filter((it) => it === `${verb} ${kind.plural}`).length,
    hold: () => turn(true),
    letGo: () => turn(false),
  };
}
