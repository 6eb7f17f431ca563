import type { ClientHttp2Session } from 'node:http2';
import type { Access } from './access.ts';
import { destroySession, openSession, type SessionLimits } from './session.ts';

/**
 * The one session that new requests use, made when it is needed. A retired one finishes what it carries and closes.
 * Each connect reads the access anew: the CA, a client certificate or the address may have been replaced.
 */
export class CurrentSession {
  readonly #loadAccess: () => Promise<Access>;
  readonly #limits: SessionLimits;
  readonly #open = new Set<ClientHttp2Session>();
  #current: ClientHttp2Session | null = null;
  #opening: Promise<ClientHttp2Session> | null = null;
  #isClosed = false;

  constructor(loadAccess: () => Promise<Access>, limits: SessionLimits) {
    this.#loadAccess = loadAccess;
    this.#limits = limits;
  }

  /** Rejects when there is no connection to be had. */
  get(): ClientHttp2Session | Promise<ClientHttp2Session> {
    if (this.#current !== null && !this.#current.closed && !this.#current.destroyed) return this.#current;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  retire(session: ClientHttp2Session): void {
    if (this.#current === session) this.#current = null;
    if (!session.closed) session.close();
  }

  /** What is under way ends without an answer. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#open) destroySession(session);
  }

  async #connect(): Promise<ClientHttp2Session> {
    if (this.#isClosed) throw new Error('the client is closed');
    const session = await openSession(await this.#loadAccess(), this.#limits);
    this.#open.add(session);
    session.once('close', () => this.#open.delete(session));
    if (this.#isClosed) destroySession(session);
    this.#current = session;
    return session;
  }
}
