/** The operator's shell, as far as a command may touch it. */
export interface Terminal {
  /** Somebody sits there and can answer a question. */
  readonly isInteractive: boolean;
  write(text: string): void;
  complain(text: string): void;
  /** The answer without its line end; empty when the input ended. */
  ask(question: string): Promise<string>;
  nowMs(): number;
}
