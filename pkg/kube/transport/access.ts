import type { SecureContextOptions } from 'node:tls';

/** Where the API server is and how to be let in, as of one moment. */
export interface Access {
  readonly origin: string;
  /** Stands before every path when the API server lives behind a gateway; empty otherwise. */
  readonly pathPrefix: string;
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> & {
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the access anew from where it is kept; tokens and certificates are replaced while we run. */
export type LoadAccess = () => Promise<Access>;

const FRESH_FOR_MS = 30_000;

/** The access in use. Kubelet replaces a token long before it ends, so an old one serves while the new one is read. */
export class AccessCache {
  readonly #load: LoadAccess;
  #access: Access | null = null;
  #loadedAtMs = 0;
  #loading: Promise<Access> | null = null;

  constructor(load: LoadAccess) {
    this.#load = load;
  }

  current(): Access | Promise<Access> {
    if (this.#access === null) return this.reload();
    if (performance.now() - this.#loadedAtMs > FRESH_FOR_MS) this.reload().catch(() => {}); // what is in use stays
    return this.#access;
  }

  reload(): Promise<Access> {
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #reload(): Promise<Access> {
    this.#loadedAtMs = performance.now(); // a failing source is asked again after the same while
    this.#access = await this.#load();
    return this.#access;
  }
}
