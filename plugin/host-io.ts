import type { Exchange, PluginIo, SpoolOutcome, StdinOutcome } from './plugin-io.ts';

/** The global of the QuickJS host (plugin/host). A call returns when its outcome is known; texts must be well-formed. */
declare const host: {
  env(name: string): string | undefined | null;
  nowMs(): number;
  sleep(ms: number): void;
  encodeUtf8(text: string): Uint8Array;
  decodeUtf8(bytes: Uint8Array): string | undefined;
  readStdin(limitBytes: number, timeoutMs: number): StdinOutcome;
  exchange(
    socketPath: string,
    request: Uint8Array,
    limitBytes: number,
    timeoutMs: number,
    lengthOf: (firstBytes: Uint8Array) => number | null,
  ): Exchange;
  spool(directory: string, name: string, text: string, maxFiles: number): SpoolOutcome;
  writeStdout(text: string, timeoutMs: number): boolean;
  exit(code: number): never;
};

/** PluginIo on the QuickJS host. Nothing runs meanwhile: a process is one call, and a call does one thing after the other. */
export const hostIo: PluginIo = {
  env: (name) => host.env(name.toWellFormed()),
  nowMs: () => host.nowMs(),
  sleep: async (ms) => host.sleep(ms),
  encodeUtf8: (text) => host.encodeUtf8(text.toWellFormed()),
  decodeUtf8: (bytes) => host.decodeUtf8(bytes) ?? null,
  readStdin: async (limitBytes, timeoutMs) => host.readStdin(limitBytes, timeoutMs),
  exchange: async (socketPath, request, limitBytes, timeoutMs, lengthOf) =>
    host.exchange(socketPath.toWellFormed(), request, limitBytes, timeoutMs, lengthOf),
  spool: async (directory, name, text, maxFiles) =>
    host.spool(directory.toWellFormed(), name.toWellFormed(), text.toWellFormed(), maxFiles),
  writeStdout: (text, timeoutMs) => host.writeStdout(text.toWellFormed(), timeoutMs),
};

export function exit(code: 0 | 1): never {
  return host.exit(code);
}
