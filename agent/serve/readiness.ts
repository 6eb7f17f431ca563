import { type Call, writeLimits } from '#agent/calls/call.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

/** Whether the agent knows enough to answer: its records, its pools, its pods, and that the cluster's old state was taken over. */
export class Readiness {
  readonly #ready = Promise.withResolvers<void>();
  #waitsFor: string | null = 'it has not read its records yet';

  get isReady(): boolean {
    return this.#waitsFor === null;
  }

  get waitsFor(): string | null {
    return this.#waitsFor;
  }

  /** What is missing, completing the sentence "the agent is not ready: …". */
  waitFor(what: string): void {
    if (!this.isReady) this.#waitsFor = what;
  }

  become(): void {
    this.#waitsFor = null;
    this.#ready.resolve();
  }

  /** The agent ends before it became ready: nobody waits any longer. */
  giveUp(): void {
    this.waitFor('it is being stopped');
    this.#ready.resolve();
  }

  throwIfNotReady(): void {
    if (this.#waitsFor !== null) throw new IpamError('not-ready', `the agent is not ready: ${this.#waitsFor}`);
  }

  /** For calls that a runtime repeats: a start is no reason to take the node down. */
  throwIfNotYet(): void {
    if (this.#waitsFor !== null) throw new IpamError('agent-unavailable', `the agent is not ready: ${this.#waitsFor}`);
  }

  /** An agent that starts must not fail pods: the call waits as long as it can. */
  async wait(call: Call): Promise<void> {
    if (this.isReady) return;
    const { deadlineMs = performance.now() } = writeLimits(call);
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(over.resolve, Math.max(0, deadlineMs - performance.now()));
    call.signal.addEventListener('abort', () => over.resolve(), { once: true });
    if (call.signal.aborted) over.resolve();
    await Promise.race([this.#ready.promise, over.promise]);
    clearTimeout(timer);
    this.throwIfNotYet();
  }
}
