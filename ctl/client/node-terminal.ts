import { createInterface } from 'node:readline/promises';
import type { Terminal } from './terminal.ts';

export function openTerminal(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  errors: NodeJS.WriteStream,
): Terminal {
  return {
    isInteractive: input.isTTY === true && errors.isTTY === true,
    write: (text) => void output.write(text),
    complain: (text) => void errors.write(text),
    ask: (question) => askOnce(question, input, errors),
    nowMs: () => Date.now(),
  };
}

/** Asks on stderr, so that stdout contains only the result of the command. */
async function askOnce(question: string, input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  const reader = createInterface({ input, output });
  const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  try {
    return await Promise.race([reader.question(question), ended]);
  } finally {
    reader.close();
  }
}
