import { vi } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { startScripted } from './scripted-client.ts';
import { type ScriptedRequest, statusBody } from './scripted-server.ts';

type Asked = { readonly plural: string; readonly name?: string };
type Get = (request: ScriptedRequest, asked: Required<Asked>) => void;

/** Lists, watches and reads of any kind, so that a test decides the order of events. */
export class ScriptedApi implements AsyncDisposable {
  readonly client: KubeClient;
  readonly #stop: () => PromiseLike<void>;
  readonly #requests: readonly ScriptedRequest[];
  readonly #lists = new Map<string, { resourceVersion: string; items: readonly object[] }>();
  readonly #streams: { plural: string; stream: ScriptedRequest['stream'] }[] = [];
  /** The answer for a single object; by default it does not exist. */
  onGet: Get = answerMissing;

  private constructor(pair: Awaited<ReturnType<typeof startScripted>>) {
    this.client = pair.client;
    this.#requests = pair.server.requests;
    this.#stop = () => pair[Symbol.asyncDispose]();
    pair.server.script = (request) => this.#serve(request);
  }

  static async start(): Promise<ScriptedApi> {
    return new ScriptedApi(await startScripted(() => {}));
  }

  /** Sets the answer of the next list of the kind. */
  has(plural: string, resourceVersion: number, ...items: object[]): void {
    this.#lists.set(plural, { resourceVersion: String(resourceVersion), items });
  }

  /** Sends events to all open watches of the kind. */
  tell(
    plural: string,
    ...events: (readonly [type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR', object: object])[]
  ): void {
    const lines = events.map(([type, object]) => `${JSON.stringify({ type, object })}\n`).join('');
    for (const it of this.#streams) if (it.plural === plural && !it.stream.destroyed) it.stream.write(lines);
  }

  count(verb: 'get' | 'list' | 'watch', plural: string): number {
    return this.#requests.filter((request) => {
      const asked = askedFor(request);
      return asked.plural === plural && verbOf(request, asked) === verb;
    }).length;
  }

  /** Resolves when the watch is open, so that events arrive. */
  isWatched(plural: string): boolean {
    return this.#streams.some((it) => it.plural === plural && !it.stream.destroyed);
  }

  query(verb: 'list' | 'watch', plural: string): { accept: string; fieldSelector: string | null; path: string } | null {
    const request = this.#requests.find((it) => askedFor(it).plural === plural && verbOf(it, askedFor(it)) === verb);
    if (request === undefined) return null;
    const { headers, query, path } = request;
    return { accept: String(headers['accept']), fieldSelector: query.get('fieldSelector'), path };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  #serve(request: ScriptedRequest): void {
    const { plural, name } = askedFor(request);
    if (name !== undefined) this.onGet(request, { plural, name });
    else if (request.query.has('watch')) this.#openWatch(request, plural);
    else this.#answerList(request, plural);
  }

  #openWatch({ stream }: ScriptedRequest, plural: string): void {
    stream.respond({ ':status': 200 });
    this.#streams.push({ plural, stream });
  }

  #answerList(request: ScriptedRequest, plural: string): void {
    const { resourceVersion, items } = this.#lists.get(plural) ?? { resourceVersion: '1', items: [] };
    request.answer(200, { kind: 'List', metadata: { resourceVersion }, items });
  }
}

export function answerMissing(request: ScriptedRequest, { plural, name }: Required<Asked>): void {
  request.answer(404, statusBody(404, 'NotFound', { name, kind: plural }));
}

function verbOf({ query }: ScriptedRequest, { name }: Asked): 'get' | 'list' | 'watch' {
  if (name !== undefined) return 'get';
  return query.has('watch') ? 'watch' : 'list';
}

function askedFor({ path }: ScriptedRequest): Asked {
  const parts = path.split('/').slice(path.startsWith('/apis/') ? 4 : 3);
  const [plural = '', name] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts;
  return name === undefined ? { plural } : { plural, name };
}

/** Waits long enough for a busy machine. */
export async function until(holds: () => boolean): Promise<void> {
  await vi.waitUntil(holds, 60_000);
}
