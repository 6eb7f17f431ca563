/** The terminal of the operator. */
export interface Terminal {
  /** Whether a person can answer a question here. */
  readonly isInteractive: boolean;
  write(text: string): void;
  complain(text: string): void;
  /** The answer without its line end; empty if the input ended. */
  ask(question: string): Promise<string>;
  nowMs(): number;
}
