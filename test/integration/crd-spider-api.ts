import { type ApiAnswer, callApi } from '#test/support/api-request.ts';
import type { ServerPlace } from '#test/support/api-server.ts';

const PATHS = {
  SpiderIPPool: 'spiderippools',
  SpiderSubnet: 'spidersubnets',
  SpiderReservedIP: 'spiderreservedips',
  SpiderEndpoint: 'namespaces/default/spiderendpoints',
} as const;
export type SpiderKind = keyof typeof PATHS;

const API_VERSION = 'spiderpool.spidernet.io/v2beta1';

/** Spiderpool's kinds, as an admin writes them. */
export class SpiderApi {
  readonly #server: ServerPlace;

  constructor(server: ServerPlace) {
    this.#server = server;
  }

  send(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    return callApi(this.#server, { method, path, body, token: this.#server.adminToken });
  }

  /** A dry run with kubectl's setting: unknown fields are refused, not dropped. */
  tryCreate(kind: SpiderKind, fields: object): Promise<ApiAnswer> {
    return this.send('POST', `${pathOf(kind)}?dryRun=All&fieldValidation=Strict`, objectOf(kind, 'thing', fields));
  }

  create(kind: SpiderKind, name: string, fields: object): Promise<ApiAnswer> {
    return this.send('POST', pathOf(kind), objectOf(kind, name, fields));
  }

  /** Replaces `before` by `after` in everything but the metadata, and leaves nothing behind. */
  async replace(kind: SpiderKind, before: object, after: object): Promise<ApiAnswer> {
    const { body } = await this.create(kind, 'replaced', before);
    const { metadata } = body as { metadata: object };
    try {
      return await this.send('PUT', pathOf(kind, 'replaced'), { ...objectOf(kind, 'replaced', after), metadata });
    } finally {
      await this.remove(kind, 'replaced');
    }
  }

  remove(kind: SpiderKind, name: string): Promise<ApiAnswer> {
    return this.send('DELETE', pathOf(kind, name));
  }
}

export function pathOf(kind: SpiderKind, name?: string): string {
  const collection = `/apis/${API_VERSION}/${PATHS[kind]}`;
  return name === undefined ? collection : `${collection}/${name}`;
}

function objectOf(kind: SpiderKind, name: string, fields: object): object {
  return { apiVersion: API_VERSION, kind, metadata: { name }, ...fields };
}
