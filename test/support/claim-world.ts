import { pino } from 'pino';
import type { ClaimScope } from '#controller/claims/claim-scope.ts';
import { startClaims } from '#controller/claims/serve-claims.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { PoolReadings } from '#controller/project/pool-catalog.ts';
import { CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, RESERVED_IPS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { MemoryObjects } from './memory-objects.ts';
import { MemoryRecords } from './memory-records.ts';

type Call = (call: string) => unknown;

/** What serves claims, on an API server in memory whose watches can be held, and with a clock that can be advanced. */
export class ClaimWorld {
  readonly objects = new MemoryObjects();
  readonly records = new MemoryRecords();
  readonly told: EmittedEvent[] = [];
  /** Each request of the leader: `patch ipaddressclaims vm-0`, `create iprecords 10.0.0.5`. */
  readonly calls: string[] = [];
  /** Called before each of them. What it throws, or a failure that it returns, is the answer. */
  before: Call = () => undefined;
  aheadMs = 0;
  recordsMissingForMs = 0;
  readonly ledger: Ledger;
  #created = 0;

  constructor() {
    const memory = createMemoryLedger();
    this.ledger = ledgerWith(memory, {
      create: async (spec) => {
        const refused = await this.#note(`create iprecords ${spec.address}`);
        if (refused !== undefined) throw refused;
        const outcome = await memory.create(spec);
        if (outcome.taken) this.records.put(outcome.record);
        return outcome;
      },
      amend: async (seen, next) => {
        await this.#note(`update iprecords ${seen.name}`);
        const outcome = await memory.amend(seen, next);
        if (outcome.done) this.records.put(outcome.record);
        return outcome;
      },
      release: async (seen) => {
        await this.#note(`delete iprecords ${seen.name}`);
        const outcome = await memory.release(seen);
        if (outcome.done) this.records.drop(seen.name);
        return outcome;
      },
      get: async (name) => {
        await this.#note(`get iprecords ${name}`);
        return memory.get(name);
      },
    });
  }

  /** Begins a term. Several may run at once. */
  lead(claimScope?: ClaimScope): AsyncDisposable {
    const stack = new AsyncDisposableStack();
    const view = (kind: Resource): ObjectView => this.objects.view(kind);
    const [pools, reserved, subnets] = [view(POOLS), view(RESERVED_IPS), view(SUBNETS)];
    startClaims(
      {
        client: this.#client(),
        log: pino({ enabled: false }),
        isLeader: () => true,
        now: () => new Date(Date.now() + this.aheadMs),
        pools,
        reserved,
        subnets,
        records: this.records,
        catalog: stack.use(new PoolReadings(pools, reserved, subnets)),
        ledger: this.ledger,
        events: { emit: (event) => void this.told.push(event) },
        recordsMissingForMs: () => this.recordsMissingForMs,
        ...(claimScope === undefined ? {} : { claimScope }),
      },
      { stack, watch: view },
    );
    return stack;
  }

  pool(name: string, ips: readonly string[], spec: object = {}): KubeObject {
    return this.objects.create(POOLS, { metadata: { name }, spec: { subnet: '10.0.0.0/16', ips, ...spec } });
  }

  cluster(name: string, paused = false): KubeObject {
    return this.objects.create(CLUSTERS, { metadata: { namespace: 'prod', name }, spec: { paused } });
  }

  /** Each is a second younger than the one before. */
  claim(name: string, { pool = 'lab', cluster, isProtected = false }: ClaimWish = {}): KubeObject {
    this.#created += 1;
    const creationTimestamp = new Date(Date.now() + this.aheadMs + this.#created * 1_000).toISOString();
    const finalizers = isProtected ? [CLAIM_FINALIZER] : [];
    return this.objects.create(CLAIMS, {
      metadata: { namespace: 'prod', name, creationTimestamp, finalizers, generation: 1 },
      spec: {
        ...(cluster === undefined ? {} : { clusterName: cluster }),
        poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: pool },
      },
    });
  }

  /** `True/Ready: 10.0.0.5 of pool lab`, or an empty text. */
  condition(name: string): string {
    const found = this.objects.get(CLAIMS, { namespace: 'prod', name });
    const { conditions = [] } = (found?.['status'] ?? {}) as { conditions?: Record<string, string>[] };
    const [ready] = conditions;
    return ready === undefined ? '' : `${ready['status']}/${ready['reason']}: ${ready['message']}`;
  }

  /** `prod/vm-0 10.0.0.5` of each record, in the order of their addresses. */
  async held(): Promise<string[]> {
    const records = await this.ledger.list({ limit: 1_000 });
    return records.map(({ spec: { holder, address } }) => `${holder.namespace}/${holder.name} ${address}`);
  }

  address(name: string): KubeObject | null {
    return this.objects.get(IP_ADDRESSES, { namespace: 'prod', name });
  }

  countOf(call: string): number {
    return this.calls.filter((it) => it === call).length;
  }

  #client(): KubeClient {
    const timing = { ...SYSTEM_TIMING, nowMs: () => performance.now() + this.aheadMs };
    return this.objects.client(timing, (call) => this.#note(call));
  }

  async #note(call: string): Promise<unknown> {
    this.calls.push(call);
    return await this.before(call);
  }
}

interface ClaimWish {
  readonly pool?: string;
  readonly cluster?: string;
  /** It has our finalizer from elsewhere. */
  readonly isProtected?: boolean;
}
