import type { Logger } from 'pino';
import type { Allocator } from '#agent/allocate/allocator.ts';
import { type Attachment, type Call, writeLimits } from '#agent/calls/call.ts';
import { checkAttachment } from '#agent/inspect/check-attachment.ts';
import type { Inspector } from '#agent/inspect/inspector.ts';
import type { BeginLooks } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import { releaseGarbage } from '#agent/release/garbage.ts';
import type { RefuseRelease } from '#agent/release/release-refusal.ts';
import type { Released, Releaser } from '#agent/release/releaser.ts';
import { failedAddEvent } from '#agent/report/agent-events.ts';
import { type AgentMetrics, NO_METRICS } from '#agent/report/agent-metrics.ts';
import type { HolderSource } from '#agent/sources/holder-source.ts';
import type { CollectAnswer, ReleaseAnswer, ReleaseArgs } from '#pkg/agentapi/admin.ts';
import type { AddArgs, AddResponse, BatchDelArgs, CallExtras, CheckArgs, DelArgs, GcArgs } from '#pkg/agentapi/wire.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { type Events, NO_EVENTS } from '#pkg/kube/events/events.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';

/** Whether the agent knows enough to answer: its records, its pools, its pods, and that the cluster's old state was taken over. */
export class Readiness {
  readonly #ready = Promise.withResolvers<void>();
  #waitsFor: string | null = 'it has not read its records yet';
  #isStopping = false;

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

  /** Calls no longer wait for an agent that was not ready. An agent that was ready answers STATUS as before, until it has stopped. */
  stop(): void {
    this.#isStopping = true;
    this.waitFor('it is being stopped');
    this.#ready.resolve();
  }

  /** Refuses an ADD that arrives now: its plugin asks again, and the next agent has the time that this one has not. */
  throwIfStopping(): void {
    if (this.#isStopping) throw new IpamError('agent-unavailable', 'the agent is being stopped');
  }

  throwIfNotReady(): void {
    if (this.#waitsFor !== null) throw new IpamError('not-ready', `the agent is not ready: ${this.#waitsFor}`);
  }

  /** Refuses calls that a runtime repeats, with a reason that does not take the node down. */
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

export interface AgentParts {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly holders: HolderSource;
  readonly allocator: Allocator;
  readonly releaser: Releaser;
  readonly refuseRelease: RefuseRelease;
  readonly inspector: Inspector;
  readonly beginLooks: BeginLooks;
  readonly collect: (dryRun: boolean) => Promise<CollectAnswer>;
  readonly log: Logger;
  readonly metrics?: AgentMetrics;
  readonly events?: Events;
}

/** The node's daemon as its callers see it: one method a verb, each leaving one line in the log. */
export class Agent {
  readonly inspector: Inspector;
  readonly #parts: AgentParts;
  readonly #metrics: AgentMetrics;
  readonly #events: Events;
  readonly #readiness = new Readiness();

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.inspector = parts.inspector;
    this.#metrics = parts.metrics ?? NO_METRICS;
    this.#events = parts.events ?? NO_EVENTS;
  }

  /** Says what the agent still waits for, or that it waits for nothing any more. */
  get readiness(): Readiness {
    return this.#readiness;
  }

  async add(args: AddArgs, call: Call): Promise<AddResponse> {
    this.#readiness.throwIfStopping();
    try {
      return await measured('allocation', this.#metrics, () => this.#add(args, call));
    } catch (thrown) {
      const event = failedAddEvent(args, toIpamError(thrown));
      if (event !== null) this.#events.emit(event);
      throw thrown;
    }
  }

  async #add(args: AddArgs, call: Call): Promise<AddResponse> {
    this.#warn(args, args);
    const answer = await this.#parts.allocator.add(args, call, () => this.#readiness.wait(call));
    const addresses = answer.ips.filter(({ nic }) => nic === args.ifName).map(({ address }) => address);
    this.#parts.log.info({ ...fieldsOf(args), addresses, ms: elapsedMs(call) }, 'ADD');
    return answer;
  }

  async del(args: DelArgs): Promise<void> {
    await measured('release', this.#metrics, async () => {
      this.#warn(args, args);
      if (!this.#readiness.isReady) return await this.#parts.releaser.postpone(args);
      this.#logReleased(args, await this.#parts.releaser.del(args), 'DEL');
    });
  }

  /** Answers with what was not given back: the addresses of a holder that keeps its own. */
  async delContainer(args: BatchDelArgs): Promise<IpRecord[]> {
    return await measured('release', this.#metrics, async () => {
      this.#readiness.throwIfNotYet();
      const released = await this.#parts.releaser.delContainer(args);
      this.#logReleased({ containerID: args.containerID, ifName: '*' }, released, 'DEL');
      return released.filter(({ outcome }) => outcome === 'kept').map(({ record }) => record);
    });
  }

  async check(args: CheckArgs): Promise<void> {
    this.#readiness.throwIfNotYet();
    await checkAttachment(args, this.#parts);
  }

  async gc(args: GcArgs, call: Call): Promise<number> {
    this.#readiness.throwIfNotYet();
    const { index, releaser, beginLooks } = this.#parts;
    const released = await releaseGarbage(args, call, index, releaser, beginLooks());
    for (const it of released) {
      const { containerID = '', interface: ifName } = it.record.spec.holder;
      this.#logReleased({ containerID, ifName }, [it], 'GC');
    }
    return released.filter(({ outcome }) => ['released', 'cooling', 'retained', 'journalled'].includes(outcome)).length;
  }

  async collect(dryRun: boolean): Promise<CollectAnswer> {
    this.#readiness.throwIfNotYet();
    return await this.#parts.collect(dryRun);
  }

  /** Releases for an operator the record exactly as it was shown, or nothing. */
  async release({ name, uid, resourceVersion, asOfMs, althoughInDoubt = false }: ReleaseArgs): Promise<ReleaseAnswer> {
    this.#readiness.throwIfNotYet();
    const { ledger, releaser, refuseRelease, log } = this.#parts;
    const record = await ledger.get(name);
    if (record === null) return { released: false, because: 'gone' };
    if (record.uid !== uid || record.resourceVersion !== resourceVersion)
      return { released: false, because: 'changed' };
    const refusal = await refuseRelease(record, althoughInDoubt);
    if (refusal !== null) throw refusal;
    const outcome = await releaser.releaseShown(record, asOfMs - performance.timeOrigin);
    log.warn({ address: record.spec.address, holder: describeHolder(record), outcome }, 'release by an operator');
    if (outcome === 'journalled') {
      const message = `${record.spec.address} could not be given back now; the release is in the agent's journal, and the agent's log has the reason`;
      throw new IpamError('outcome-unknown', message);
    }
    return outcome === 'gone' || outcome === 'changed' ? { released: false, because: outcome } : { released: true };
  }

  recordsOfContainer(containerID: string): IpRecord[] {
    return this.#parts.index.ofContainer(containerID);
  }

  recordsOfPod(namespace: string, name: string): IpRecord[] {
    return this.#parts.index
      .all()
      .filter(
        ({ spec }) => spec.state === 'Allocated' && spec.holder.namespace === namespace && spec.holder.name === name,
      );
  }

  #warn(attachment: Attachment, { warnings = [] }: CallExtras): void {
    for (const warning of warnings) this.#parts.log.warn({ ...fieldsOf(attachment), warning }, 'plugin warning');
  }

  #logReleased(attachment: Attachment, released: readonly Released[], verb: string): void {
    const addresses = released.map(({ record, outcome }) => `${record.spec.address} ${outcome}`);
    for (const { outcome } of released) if (outcome === 'changed') this.#metrics.releaseConflict();
    this.#parts.log.info({ ...fieldsOf(attachment), addresses }, verb);
  }
}

async function measured<T>(verb: 'allocation' | 'release', metrics: AgentMetrics, work: () => Promise<T>): Promise<T> {
  const begunAtMs = performance.now();
  try {
    const result = await work();
    metrics[verb](performance.now() - begunAtMs, null);
    return result;
  } catch (thrown) {
    metrics[verb](performance.now() - begunAtMs, toIpamError(thrown).reason);
    throw thrown;
  }
}

function fieldsOf({ containerID, ifName }: Attachment): Attachment {
  return { containerID, ifName };
}

function elapsedMs(call: Call): number {
  return Math.round((performance.now() - call.arrivedAtMs) * 100) / 100;
}
