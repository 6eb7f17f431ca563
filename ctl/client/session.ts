import { toPrintable, toPrintableJson } from '#ctl/render/printable.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { AdminClient } from './admin-client.ts';
import type { Terminal } from './terminal.ts';

/** 0: done, or the answer is yes. 1: the answer is no. 2: there is no answer. grep and diff use the same codes. */
export type ExitCode = 0 | 1 | 2;

export interface Session {
  readonly client: AdminClient;
  readonly terminal: Terminal;
  /** `report` goes with `check` alone. */
  readonly output: 'text' | 'json' | 'report';
  /** Present if the source is the API server. */
  readonly cluster?: KubeClient;
}

/** Prints the answer: as JSON, or as `render` shows it to a person. */
export function show<T>({ terminal, output }: Session, answer: T, render: (answer: T) => string): void {
  terminal.write(output === 'json' ? `${toPrintableJson(answer)}\n` : render(toPrintable(answer)));
}
