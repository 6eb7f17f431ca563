import type { Logger } from 'pino';
import type { Call } from '#agent/calls/call.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import { type ProbeTarget, type ProbeVerdict, UNSEEN_NAMESPACE } from '#agent/probe/probe-target.ts';
import type { GiveBack } from '#agent/release/give-back.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';

/** What is needed of the prober here. */
export interface Probing {
  probe(target: ProbeTarget, signal?: AbortSignal): Promise<ProbeVerdict>;
}

export interface ProbeSettings {
  readonly detectConflict: boolean;
  readonly detectGateway: boolean;
  readonly windowMs: number;
  readonly count: number;
  readonly quarantineMs: number;
  /** `next`: another address is tried. `block`: the ADD fails, as with Spiderpool. */
  readonly onConflict: 'next' | 'block';
}

export interface AddressProbeDeps {
  /** Null where this process may not probe. */
  readonly prober: Probing | null;
  readonly settings: ProbeSettings;
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly giveBack: GiveBack;
  readonly now: () => Date;
  readonly log: Logger;
  /** A foreign host uses the address of this record. */
  readonly onVerdict?: (verdict: ProbeVerdict['kind']) => void;
  readonly onConflict?: (record: IpRecord, mac: string) => void;
}

/** `unknown`: the network could not be asked. */
export type Answering = 'silence' | 'answer' | 'unknown';

/** Asks the network about an address whose record was just written, and draws the consequences. */
export class AddressProbe {
  readonly #deps: AddressProbeDeps;

  constructor(deps: AddressProbeDeps) {
    this.#deps = deps;
  }

  /** Null: it may be used. A foreign host's MAC: it is quarantined now. Otherwise it throws the error of the call. */
  async findConflict(record: IpRecord, pool: Pool, call: Call): Promise<string | null> {
    const target = this.#targetOf(record.spec, pool);
    if (target === null) return null;
    const verdict = await this.#probe(target, call);
    if (verdict.kind === 'free') return null;
    if (verdict.kind === 'skipped') {
      this.#deps.log.info({ address: record.spec.address, why: verdict.why }, 'address not probed');
      return null;
    }
    if (verdict.kind === 'conflict') return await this.#onConflict(record, verdict.mac);
    await this.#deps.giveBack.atOnce(record);
    throw toError(verdict, record.spec, target);
  }

  /** A sticky holder keeps its address even while a foreign host uses it: the call fails, and the record stays. */
  async refuseConflict(record: IpRecord, pool: Pool, call: Call): Promise<void> {
    const target = this.#targetOf(record.spec, pool);
    if (target === null) return;
    const verdict = await this.#probe(target, call);
    if (verdict.kind === 'free' || verdict.kind === 'skipped') return;
    if (verdict.kind !== 'conflict') throw toError(verdict, record.spec, target);
    this.#deps.onConflict?.(record, verdict.mac);
    const message = `${record.spec.address} belongs to ${record.spec.holder.namespace}/${record.spec.holder.name}, but a foreign host with MAC ${verdict.mac} uses it`;
    throw new IpamError('sticky-address-conflict', message);
  }

  /**
   * Probes although the switch is off. `silence`: the probe was sent and no host answered. `unknown`: it could not be sent. If the
   * pool's gateway must answer and does not, the call fails, as with every other address.
   */
  async whoAnswers(
    spec: RecordSpec,
    pool: Pool,
    call: Pick<Call, 'signal'>,
    link: Pick<ProbeTarget, 'isBorrowed'> = {},
  ): Promise<Answering> {
    const target = this.#targetOf(spec, { ...pool, detectConflict: true });
    if (target === null) return 'unknown';
    const verdict = await this.#probe({ ...target, ...link }, call);
    if (verdict.kind === 'gateway-unreachable') throw toError(verdict, spec, target);
    if (verdict.kind === 'free') return 'silence';
    return verdict.kind === 'conflict' ? 'answer' : 'unknown';
  }

  /** Probes although the switch is off. The MAC of the host that answers on the address; null: none answered, or no probe was possible. */
  async findUser(spec: RecordSpec, pool: Pool, call: Call): Promise<string | null> {
    if (this.#deps.prober === null) return null;
    const target = this.#targetOf(spec, { ...pool, detectConflict: true, detectGateway: false });
    if (target === null) return null;
    const router = pool.hasProxyArp ? await this.#macOfGateway(target, call) : null;
    return await this.#macOf(router === null ? target : { ...target, ignoredMac: router }, call);
  }

  async #macOfGateway(target: ProbeTarget, call: Call): Promise<string | null> {
    const { gateway } = target;
    return gateway === null ? null : await this.#macOf({ ...target, address: gateway }, call);
  }

  async #macOf(target: ProbeTarget, call: Call): Promise<string | null> {
    const verdict = await this.#probe(target, call);
    return verdict.kind === 'conflict' ? verdict.mac : null;
  }

  async #probe(target: ProbeTarget, call: Pick<Call, 'signal'>): Promise<ProbeVerdict> {
    const { prober, onVerdict } = this.#deps;
    const verdict: ProbeVerdict =
      prober === null
        ? { kind: 'failed', why: 'this agent may not probe, its log names the capability that it lacks' }
        : await prober.probe(target, call.signal);
    onVerdict?.(verdict.kind);
    return verdict;
  }

  #targetOf(spec: RecordSpec, pool: Pool): ProbeTarget | null {
    const { settings, onVerdict, log } = this.#deps;
    const detectConflict = pool.detectConflict ?? settings.detectConflict;
    const detectGateway = (pool.detectGateway ?? settings.detectGateway) && pool.gateway !== null;
    const { netns, interface: name } = spec.holder;
    if (!(detectConflict || detectGateway)) return null;
    if (netns === undefined) {
      onVerdict?.('skipped');
      log.info({ address: spec.address, why: UNSEEN_NAMESPACE }, 'address not probed');
      return null;
    }
    const address = parseAddress(spec.address);
    const { windowMs, count } = settings;
    return { netns, interface: name, address, gateway: pool.gateway, detectConflict, detectGateway, windowMs, count };
  }

  async #onConflict(record: IpRecord, mac: string): Promise<string> {
    const { settings, giveBack, log } = this.#deps;
    const fields = { address: record.spec.address, mac, interface: record.spec.holder.interface };
    log.warn(fields, 'address conflict: a foreign host uses it');
    this.#deps.onConflict?.(record, mac);
    if (settings.onConflict === 'block') {
      await giveBack.atOnce(record);
      throw new IpamError('address-conflict', `${record.spec.address} is used by a foreign host with MAC ${mac}`);
    }
    await this.#quarantine(record, mac);
    return mac;
  }

  async #quarantine(record: IpRecord, mac: string): Promise<void> {
    const { ledger, index, now, settings } = this.#deps;
    const { interface: name, attachGeneration, node } = record.spec.holder;
    const until = new Date(now().getTime() + settings.quarantineMs).toISOString();
    const holder = { kind: 'Conflict' as const, namespace: '', name: mac, interface: name, attachGeneration, node };
    const outcome = await ledger.amend(record, { ...record.spec, state: 'Quarantined', until, holder });
    index.drop(record);
    if (outcome.done) index.put(outcome.record);
  }
}

function toError(
  verdict: ProbeVerdict & { kind: 'gateway-unreachable' | 'failed' },
  spec: RecordSpec,
  { gateway }: ProbeTarget,
): IpamError {
  if (verdict.kind === 'failed') {
    return new IpamError(
      'io-failure',
      `${spec.address} could not be probed on ${spec.holder.interface}: ${verdict.why}`,
    );
  }
  const name = gateway === null ? 'none' : formatAddress(gateway);
  const message = `the gateway ${name} does not answer on ${spec.holder.interface}, asked from ${spec.address}`;
  return new IpamError('gateway-unreachable', message);
}
