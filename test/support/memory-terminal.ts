import type { Terminal } from '#ctl/client/terminal.ts';

interface MemoryTerminal extends Terminal {
  readonly stdout: string;
  readonly stderr: string;
}

interface Setting {
  readonly replies?: readonly string[];
  readonly nowMs?: number;
}

/** A terminal whose user types `replies` one after the other; without replies it is not interactive. */
export function openMemoryTerminal({ replies, nowMs = 0 }: Setting = {}): MemoryTerminal {
  const waiting = [...(replies ?? [])];
  const stdout: string[] = [];
  const stderr: string[] = [];
  return {
    isInteractive: replies !== undefined,
    write: (text) => void stdout.push(text),
    complain: (text) => void stderr.push(text),
    ask: async (question) => {
      stderr.push(question);
      return waiting.shift() ?? '';
    },
    nowMs: () => nowMs,
    get stdout() {
      return stdout.join('');
    },
    get stderr() {
      return stderr.join('');
    },
  };
}
