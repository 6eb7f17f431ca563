import type { AutoPools } from '#agent/allocate/auto-pools.ts';
import { exhaustedError } from '#agent/allocate/exhausted.ts';
import { type Plan, type PlanOptions, planAllocation, surveyPools } from '#agent/allocate/plan.ts';
import { takenError } from '#agent/allocate/requested-address.ts';
import type { Spool } from '#agent/debts/spool.ts';
import type { AnsweredStore } from '#agent/node/answered-store.ts';
import type { IsOwn } from '#agent/node/is-own.ts';
import type { BeginLooks } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { PoolView } from '#agent/views/pool-view.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import type { CheckAnswer, ExplainAnswer, PoolsAnswer, RecordsAnswer, WhoAnswer } from '#pkg/agentapi/admin.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';
import { reservedBy } from '#pkg/crd/reserved-addresses.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { everyRecord } from '#pkg/ledger/every-record.ts';
import type { Ledger, RecordQuery } from '#pkg/ledger/ledger.ts';
import { describeSource } from '#pkg/pool/asked-pools.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';
import { holderKey, type IpRecord, isSameNic, recordFamily } from '#pkg/record/ip-record.ts';
import { summarizePool } from '#pkg/record/pool-summary.ts';
import { DEFAULT_DOMAIN, recordName } from '#pkg/record/record-metadata.ts';
import { findRecordProblems, toLostFinding, toOutlivingFinding } from './record-problems.ts';

export interface InspectorDeps {
  readonly ledger: Ledger;
  readonly catalog: PoolCatalog;
  readonly views: PoolViews;
  readonly holders: HolderSource;
  readonly autoPools: AutoPools;
  readonly spool: Spool;
  readonly index: NodeIndex;
  readonly options: PlanOptions;
  readonly isOwn: IsOwn;
  readonly beginLooks: BeginLooks;
  /** The records of this node whose sandboxes outlive their pods. */
  readonly outliving: () => readonly IpRecord[];
  /** Null where the ledger is in this process. */
  readonly answered: AnsweredStore | null;
}

const PAGE = 500;

/** Answers the queries of an operator. It reads the ledger and writes nothing. */
export class Inspector {
  readonly #deps: InspectorDeps;

  constructor(deps: InspectorDeps) {
    this.#deps = deps;
  }

  async pools(): Promise<PoolsAnswer> {
    const { pools, problems } = this.#deps.catalog.current();
    const views = await Promise.all([...pools.values()].map((pool) => this.#freshView(pool)));
    const summaries = views.map(({ pool, usable, freeCount }) => summarizePool(pool, usable, freeCount));
    return { pools: summaries, problems };
  }

  async records(query: Partial<RecordQuery>): Promise<RecordsAnswer> {
    const limit = Math.min(query.limit ?? PAGE, PAGE);
    const records = await this.#deps.ledger.list({ ...query, limit });
    if (records.length === 0 && query.pool !== undefined) this.#refuseUnknownPool(query.pool);
    const last = records.length === limit ? records.at(-1) : undefined;
    return last === undefined ? { records } : { records, next: last.name };
  }

  #refuseUnknownPool(name: string): void {
    const { pools } = this.#deps.catalog.current();
    if (pools.has(name)) return;
    const known = [...pools.keys()].slice(0, 20).join(', ') || 'none';
    throw new IpamError('unknown-pool', `there is no pool ${name}, and no record of one; pools: ${known}`);
  }

  /** The domains of existing pools, and of records whose pool was deleted. */
  #domains(): Set<string> {
    const ofPools = [...this.#deps.catalog.current().pools.values()].map((pool) => pool.domain);
    const ofRecords = this.#deps.index.all().map(({ spec }) => spec.domain);
    return new Set([DEFAULT_DOMAIN, ...ofPools, ...ofRecords]);
  }

  async who(text: string, domain: string | undefined): Promise<WhoAnswer> {
    const asOfMs = performance.now();
    const address = parseAddress(text);
    const { pools, reservedIps } = this.#deps.catalog.current();
    const domains = domain === undefined ? this.#domains() : [domain];
    const records = await Promise.all([...domains].map((it) => this.#deps.ledger.get(recordName(address, it))));
    const containing = [...pools.values()].filter(
      (it) => it.family === address.family && it.addresses.contains(address.value),
    );
    return {
      address: formatAddress(address),
      records: records.filter((it) => it !== null),
      pools: containing.map((pool) => pool.name),
      reservedBy: reservedBy(reservedIps, address),
      asOfMs: Math.floor(performance.timeOrigin + asOfMs),
    };
  }

  async explain(args: AddArgs): Promise<ExplainAnswer> {
    const { holders, autoPools } = this.#deps;
    const { request, holder } = await autoPools.confirm(await holders.resolve(args));
    const survey = this.#survey(request, args);
    if (args.requestedIPs !== undefined) await this.#refuseTaken(request, args.requestedIPs);
    const explained = survey.families.map(async ({ family, pools, objected }) => {
      const tried = pools.map(async (pool, at) => ({
        ...(await this.#numbers(pool)),
        family,
        place: at + 1,
        objection: null,
      }));
      const barred = objected.map(async ({ pool, objection }) => ({
        ...(await this.#numbers(pool)),
        family,
        place: null,
        objection: objection.text,
      }));
      return await Promise.all([...tried, ...barred]);
    });
    const pools = (await Promise.all(explained)).flat();
    const held = args.podName === '' ? [] : await this.#heldBy(holder);
    const others = this.#deps.index.ofHolderUid(holder.uid ?? '').filter((it) => !isSameNic(it.spec.holder, holder));
    const refusal = await this.#foreseeRefusal(request, args, held, others);
    const all = [...held, ...others];
    return {
      source: survey.source,
      pools,
      ...(all.length === 0 ? {} : { held: all.map(toHeld) }),
      ...(mayNamePools(survey.source, args) ? { note: UNSEEN_CONFIGURATION } : {}),
      ...(refusal === null ? {} : { refusal: { reason: refusal.reason, message: refusal.message } }),
    };
  }

  #survey(request: PoolRequest, args: AddArgs): Plan {
    const { catalog, options } = this.#deps;
    try {
      return surveyPools(request, catalog.current(), options);
    } catch (thrown) {
      const { reason, message, details } = toIpamError(thrown);
      if (reason !== 'no-eligible-pool' || !mayNamePools(DEFAULT_POOLS, args)) throw thrown;
      const lines = [details, UNSEEN_CONFIGURATION].filter((line) => line !== '');
      throw new IpamError(reason, message, { details: lines.join('\n'), cause: thrown });
    }
  }

  /** Includes records that an earlier pod of the same name left, on any node. */
  async #heldBy(holder: HolderFacts['holder']): Promise<IpRecord[]> {
    const { ledger } = this.#deps;
    const found = await Promise.all(([4, 6] as const).map((family) => ledger.byHolder(holderKey(holder, family))));
    return found.flat();
  }

  /** From views that were just reloaded. */
  async #foreseeRefusal(
    request: PoolRequest,
    args: AddArgs,
    held: readonly IpRecord[],
    others: readonly IpRecord[],
  ): Promise<IpamError | null> {
    const { catalog, options, views, autoPools } = this.#deps;
    const heldFamilies = new Set(held.filter(({ spec }) => spec.state !== 'Suspect').map(recordFamily));
    try {
      const plan = planAllocation(request, args.requestedIPs ?? [], catalog.current(), { ...options, heldFamilies });
      const missing = plan.families.filter(({ family }) => !heldFamilies.has(family));
      const noPool = await autoPools.foresee(missing);
      if (noPool !== null) return noPool;
      const exhausted = missing
        .map((it) => ({ ...it, views: it.pools.map((pool) => views.of(pool)) }))
        .filter((it) => it.views.every(({ freeCount }) => freeCount === 0n));
      if (exhausted.length === 0) return null;
      const call = { interfaceName: args.ifName, waitedMs: 0, others };
      return await autoPools.explain(exhaustedError(exhausted, call), exhausted);
    } catch (thrown) {
      if (thrown instanceof IpamError) return thrown;
      throw thrown;
    }
  }

  async check(): Promise<CheckAnswer> {
    const { catalog, spool, isOwn, beginLooks, outliving, answered } = this.#deps;
    const records = await Array.fromAsync(everyRecord(this.#deps.ledger));
    const findings = await findRecordProblems(records, catalog.current(), isOwn, beginLooks());
    findings.push(...outliving().map(toOutlivingFinding), ...(answered?.lost ?? []).map(toLostFinding));
    for (const file of await spool.poison()) {
      findings.push({
        kind: 'poison-spool',
        subject: file,
        message: 'a spooled DEL that cannot be read was set aside',
      });
    }
    for (const problem of catalog.current().problems) {
      findings.push({ kind: 'broken-pool-file', subject: problem.split(':', 1)[0] ?? problem, message: problem });
    }
    return { recordsChecked: records.length, findings };
  }

  /** The error that an ADD would return for the requested addresses. */
  async #refuseTaken(request: PoolRequest, requestedIPs: readonly string[]): Promise<void> {
    const { catalog, ledger, options } = this.#deps;
    for (const { requested } of planAllocation(request, requestedIPs, catalog.current(), options).families) {
      if (requested === null) continue;
      const address = { family: requested.pool.family, value: requested.value };
      const holder = await ledger.get(recordName(address, requested.pool.domain));
      if (holder !== null) throw takenError(address, holder);
    }
  }

  async #numbers(pool: Pool): Promise<{ name: string; used: string; total: string }> {
    const view = await this.#freshView(pool);
    return { name: pool.name, used: String(view.usedCount), total: String(view.usable.size) };
  }

  async #freshView(pool: Pool): Promise<PoolView> {
    const view = this.#deps.views.of(pool);
    await view.reload();
    return view;
  }
}

const DEFAULT_POOLS = describeSource('default-pools');
const UNSEEN_CONFIGURATION =
  'The CNI configuration of the network cannot be seen from here. If it names pools (default_ipv4_ippool, default_ipv6_ippool), they are used instead of the default pools: give them with --ipv4-pool and --ipv6-pool.';

/** A CNI configuration that names pools comes before the default pools, and only a real ADD brings it. */
function mayNamePools(source: string, { podName, defaultIPv4IPPool, defaultIPv6IPPool }: AddArgs): boolean {
  const isGiven = defaultIPv4IPPool !== undefined || defaultIPv6IPPool !== undefined;
  return podName !== '' && source === DEFAULT_POOLS && !isGiven;
}

function toHeld({ spec }: IpRecord): NonNullable<ExplainAnswer['held']>[number] {
  return { address: spec.address, interface: spec.holder.interface, pool: spec.pool.name, state: spec.state };
}
