/** How one request over the agent's socket ended. Each has a kind of its own, because each has another cure. */
export type Exchange =
  /**
   * The answer is whole by its own length, or the line ended after at least one byte. A line that was cut (ECONNRESET, EPIPE while writing) after the first byte of
   * an answer is this too: the lengths inside the answer show whether it is whole.
   */
  | { readonly kind: 'answer'; readonly bytes: Uint8Array }
  /**
   * Not connected, nothing was sent: no socket file (ENOENT), no process listening behind it (ECONNREFUSED),
   * or the listener's queue is full (EAGAIN).
   */
  | { readonly kind: 'absent'; readonly why: 'missing' | 'refused' | 'busy' }
  /** Connected, but no end of the answer before the time was over. */
  | { readonly kind: 'timeout' }
  /** Connected, and the line was cut without one byte of an answer. */
  | { readonly kind: 'dropped' }
  /** More bytes than `limitBytes`. */
  | { readonly kind: 'oversized' }
  /** Anything else, for example EACCES: the system's own words. */
  | { readonly kind: 'failed'; readonly why: string };

export type StdinOutcome =
  | { readonly kind: 'text'; readonly text: string }
  /** More bytes than `limitBytes`; the rest is not read. */
  | { readonly kind: 'oversized' }
  | { readonly kind: 'not-utf8' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'failed'; readonly why: string };

export type SpoolOutcome =
  | { readonly kind: 'written' }
  /** The same DEL was spooled before: the time of its file is now. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'full'; readonly files: number }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Everything one CNI call may do to the world. Two adapters: Node (plugin/node/node-io.ts) and the QuickJS host (plugin/host/).
 * Nothing here throws; outcomes are values.
 */
export interface PluginIo {
  /** Undefined when unset; set but empty is `''`; null when it is not UTF-8. */
  env(name: string): string | undefined | null;
  /** Milliseconds of a clock that never goes back; need not be whole. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Lone surrogates become U+FFFD. */
  encodeUtf8(text: string): Uint8Array;
  /** Null when the bytes are not well-formed UTF-8. A byte order mark is kept as U+FEFF. */
  decodeUtf8(bytes: Uint8Array): string | null;
  readStdin(limitBytes: number, timeoutMs: number): Promise<StdinOutcome>;
  /**
   * One connection: write all of `request`, read the answer. `lengthOf` is asked once, with the first bytes that came, how
   * many the answer has; what comes after them is not waited for and may be missing. Null: it ends with the stream. The
   * writing side stays open until then (Node's HTTP server takes a half-close for a caller that went away).
   */
  exchange(
    socketPath: string,
    request: Uint8Array,
    limitBytes: number,
    timeoutMs: number,
    lengthOf: (firstBytes: Uint8Array) => number | null,
  ): Promise<Exchange>;
  /**
   * Creates `directory` and its missing parents (0700), refuses one that is a symlink, belongs to another user or may be
   * written by group or others. Then `name` appears in it (0600) with its whole content or not at all: write and fsync a dot
   * file, rename it, fsync the directory. A file `name` of ours with this very content is `exists` and gets a new time; any
   * other file of that name is replaced; what is no file fails.
   * `full` when the directory holds `maxFiles` entries or more and `name` is none of them.
   */
  spool(directory: string, name: string, text: string, maxFiles: number): Promise<SpoolOutcome>;
  /** Writes everything. False when the other end is gone, or full for `timeoutMs` (one second at the least). */
  writeStdout(text: string, timeoutMs: number): boolean;
}
