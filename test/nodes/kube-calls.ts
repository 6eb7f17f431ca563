import { callApi } from '#test/support/api-request.ts';
import type { ServerPlace } from '#test/support/api-server.ts';

/** What the tests read of an object. */
interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<{ [key: string]: string }>;
  };
}

export interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly hostNetwork?: boolean };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly ready: boolean }[];
  };
}

export interface Record extends KubeObject {
  readonly spec: {
    readonly address: string;
    readonly state: string;
    readonly pool: { readonly name: string };
    readonly holder: {
      readonly kind: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly uid?: string;
      readonly interface?: string;
      readonly node?: string;
      readonly netns?: string;
      readonly containerID?: string;
    };
  };
}

/** Requests of an administrator; every answer that is no success throws. */
export interface KubeCalls {
  read<T extends KubeObject>(path: string): Promise<T>;
  list<T extends KubeObject>(path: string): Promise<readonly T[]>;
  create<T extends KubeObject>(path: string, body: object): Promise<T>;
  patch(path: string, body: object): Promise<void>;
  /** Does not wait until it is gone; a missing object is no error. */
  remove(path: string, options?: object): Promise<void>;
}

export function kubeCalls(server: ServerPlace): KubeCalls {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await callApi(server, {
      method,
      path,
      token: server.adminToken,
      ...(body === undefined ? {} : { body }),
    });
    if (answer.status >= 300 && !(method === 'DELETE' && answer.status === 404))
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    read: async <T>(path: string) => (await call('GET', path)) as T,
    list: async <T>(path: string) => ((await call('GET', path)) as { items: T[] }).items,
    create: async <T>(path: string, body: object) => (await call('POST', path, body)) as T,
    patch: async (path, body) => void (await call('PATCH', path, body)),
    remove: async (path, options) => void (await call('DELETE', path, options)),
  };
}
