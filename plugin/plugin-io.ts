/** How one request over the agent's socket ended. Each way is told apart, because each has another cure. */
export type Exchange =
  | { readonly kind: 'answer'; readonly text: string }
  /** No socket file, or nobody listening behind it: an agent that is restarting. */
  | { readonly kind: 'absent'; readonly why: 'missing' | 'refused' }
  /** Connected, but no complete answer before the time was over. */
  | { readonly kind: 'timeout' }
  /** Connected, and the line was cut without one byte of an answer. */
  | { readonly kind: 'dropped' }
  /** More bytes than `limit`. */
  | { readonly kind: 'oversized' }
  | { readonly kind: 'failed'; readonly why: string };

export type StdinOutcome =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'oversized' }
  | { readonly kind: 'not-utf8' }
  | { readonly kind: 'timeout' };

export type SpoolOutcome =
  | { readonly kind: 'written' }
  /** The same DEL was spooled before: nothing more to do. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'full'; readonly files: number }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Everything one CNI call may do to the world. Two adapters: Node (plugin/node-io.ts) and the QuickJS host (plugin/host/).
 * Nothing here throws; outcomes are values.
 */
export interface PluginIo {
  env(name: string): string | undefined;
  /** Milliseconds of a clock that never goes back. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  readStdin(limitBytes: number, timeoutMs: number): Promise<StdinOutcome>;
  /** One connection: write all of `text`, read to the end of the stream. */
  exchange(socketPath: string, text: string, limitBytes: number, timeoutMs: number): Promise<Exchange>;
  /**
   * Creates `directory` (0700) where it is missing, refuses one that others may write, then creates `name` in it
   * exclusively with mode 0600, writes, fsyncs file and directory. `maxFiles` bounds the directory.
   */
  spool(directory: string, name: string, text: string, maxFiles: number): Promise<SpoolOutcome>;
  /** False when the other end is gone. */
  writeStdout(text: string): boolean;
}
