import type { KubeClient } from '#pkg/kube/client/client.ts';
import { type ScriptedPair, startScripted } from './scripted-client.ts';
import { type ScriptedRequest, statusBody } from './scripted-server.ts';

interface Account {
  readonly namespace: string;
  readonly name: string;
  readonly mayWrite: boolean;
}

/** A cluster for an adoption: lists, Spiderpool's service accounts with their rights, and the marker. */
export class LegacyApi implements AsyncDisposable {
  readonly client: KubeClient;
  readonly asked: string[] = [];
  accounts: readonly Account[] = [];
  lists: Readonly<Record<string, readonly object[]>> = {};
  isMarked = false;
  readonly #pair: ScriptedPair;

  private constructor(pair: ScriptedPair) {
    this.#pair = pair;
    this.client = pair.client;
    pair.server.script = (request) => this.#serve(request);
  }

  static async start(): Promise<LegacyApi> {
    return new LegacyApi(await startScripted(() => {}));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pair[Symbol.asyncDispose]();
  }

  #serve(request: ScriptedRequest): void {
    const plural = request.path.split('/').find((part) => PLURALS.has(part)) ?? '';
    this.asked.push(`${request.method} ${plural}`);
    if (plural === 'configmaps') this.#serveMarker(request);
    else if (plural === 'subjectaccessreviews') this.#review(request);
    else if (plural === 'iprecords') request.answer(200, NO_RECORDS);
    else this.#list(request, plural === 'serviceaccounts' ? this.#named(request) : (this.lists[plural] ?? []));
  }

  #serveMarker(request: ScriptedRequest): void {
    if (request.method === 'POST') this.isMarked = true;
    if (this.isMarked) request.answer(request.method === 'POST' ? 201 : 200, { metadata: MARKER });
    else request.answer(404, statusBody(404, 'NotFound', { name: MARKER.name, kind: 'configmaps' }));
  }

  #review(request: ScriptedRequest): void {
    const { user } = (JSON.parse(request.body) as { spec: { user: string } }).spec;
    const account = this.accounts.find(({ namespace, name }) => user === `system:serviceaccount:${namespace}:${name}`);
    request.answer(201, { status: { allowed: account?.mayWrite === true } });
  }

  #named(request: ScriptedRequest): object[] {
    return this.accounts
      .filter(({ name }) => request.query.get('fieldSelector') === `metadata.name=${name}`)
      .map(({ namespace, name }) => ({ metadata: { namespace, name, uid: 'u', resourceVersion: '1' } }));
  }

  #list(request: ScriptedRequest, items: readonly object[]): void {
    request.answer(200, { kind: 'List', metadata: { resourceVersion: '1' }, items });
  }
}

const PLURALS = new Set([
  'configmaps',
  'iprecords',
  'pods',
  'serviceaccounts',
  'spiderendpoints',
  'spiderippools',
  'subjectaccessreviews',
]);
const MARKER = { namespace: 'ipledger', name: 'ipledger-adopted', uid: 'u', resourceVersion: '1' };
const NO_RECORDS = {
  kind: 'Table',
  metadata: { resourceVersion: '1' },
  columnDefinitions: ['Name', 'POOL', 'STATE'].map((name) => ({ name })),
  rows: [],
};
