import { readFile } from 'node:fs/promises';
import { type ClientHttp2Session, connect } from 'node:http2';
import { parse } from 'yaml';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { NewObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { recordLabels } from '#pkg/record/record-metadata.ts';
import type { ApiAccess } from '#test/support/api-request.ts';
import { buildRecord } from '#test/support/build-record.ts';

export const RECORDS: Resource = { group: 'ipledger.io', version: 'v1alpha1', plural: 'iprecords', kind: 'IPRecord' };
const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
};

export async function installRecords(client: KubeClient): Promise<void> {
  const file = new URL('../../deploy/crds/ipledger.io_iprecords.yaml', import.meta.url);
  const made = await client.create(CRDS, parse(await readFile(file, 'utf8')));
  if (!made.ok) throw new Error(made.message);
  while (!(await client.list(RECORDS)).ok) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** The record of a pod of a Deployment. */
export function recordAt(index: number): NewObject {
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  const hash = index.toString(36).padStart(5, '0');
  const holder = {
    kind: 'Pod',
    namespace: 'production',
    name: `web-frontend-7d9f8b6c5d-${hash}`,
    uid: `4f0c1b2e-6a7d-4c3b-9e8f-0000000${hash}`,
    interface: 'eth0',
    network: 'macvlan-conf',
    containerID: hash.repeat(12),
    attachGeneration: 1,
    node: `worker-${index % 100}`,
  } as const;
  const spec: RecordSpec = buildRecord({ address, prefix: 8, holder }).spec;
  return { metadata: { name: address, labels: recordLabels(spec) }, spec };
}

/** The baseline: a bare `node:http2` session. A new one is opened only after the server closed an idle one. */
export class BareClient implements Disposable {
  readonly #connect: () => ClientHttp2Session;
  readonly #token: string;
  #session: ClientHttp2Session;

  private constructor(connectNow: () => ClientHttp2Session, token: string) {
    this.#connect = connectNow;
    this.#session = connectNow();
    this.#token = token;
  }

  static async open({ url, caFile }: ApiAccess, token: string): Promise<BareClient> {
    const ca = await readFile(caFile);
    return new BareClient(() => connect(url, { ca }), token);
  }

  send(method: string, path: string, headers: Readonly<Record<string, string>>, body?: unknown): Promise<Buffer> {
    return this.sendText(method, path, headers, body === undefined ? undefined : JSON.stringify(body));
  }

  sendText(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    if (this.#session.closed || this.#session.destroyed) this.#session = this.#connect();
    const stream = this.#session.request({
      ':method': method,
      ':path': path,
      authorization: `Bearer ${this.#token}`,
      ...headers,
    });
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('error', reject);
    stream.end(body);
    return promise;
  }

  async createRecord(record: NewObject): Promise<void> {
    const headers = { accept: 'application/json', 'content-type': 'application/json' };
    const body = { ...record, apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord' };
    const answer = JSON.parse(
      (await this.send('POST', '/apis/ipledger.io/v1alpha1/iprecords', headers, body)).toString(),
    );
    if (answer.kind !== 'IPRecord') throw new Error(answer.message);
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}
