import { Agent } from 'node:https';
import { type ApiAnswer, callApi } from '#test/support/api-request.ts';
import type { ServerPlace } from '#test/support/api-server.ts';

const TIMEOUT_MS = 5_000;

export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The API client of all parts that are not under test: users, kubelets, Kubernetes' controllers, the referee. Any call may fail. */
export class ChaosApi implements Disposable {
  readonly #server: ServerPlace;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });

  constructor(server: ServerPlace) {
    this.#server = server;
  }

  async list<T = ApiObject>(path: string): Promise<readonly T[]> {
    return ((await this.#ask('GET', path)) as { items: T[] }).items;
  }

  async create<T = ApiObject>(path: string, body: unknown): Promise<T> {
    return (await this.#ask('POST', path, body)) as T;
  }

  async patch(path: string, body: unknown): Promise<void> {
    await this.#ask('PATCH', path, body);
  }

  /** Does nothing if the object is gone. */
  async remove(path: string, options: object = {}): Promise<void> {
    const { status, body } = await this.#call('DELETE', path, options);
    if (status >= 400 && status !== 404 && status !== 409) throw refused('DELETE', path, status, body);
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.#call(method, path, body);
    if (answer.status >= 400) throw refused(method, path, answer.status, answer.body);
    return answer.body;
  }

  #call(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { adminToken: token } = this.#server;
    const content = body === undefined ? {} : { body };
    return callApi(this.#server, { method, path, token, type, timeoutMs: TIMEOUT_MS, agent: this.#agent, ...content });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

function refused(method: string, path: string, status: number, body: unknown): Error {
  return new Error(`${method} ${path}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
}
