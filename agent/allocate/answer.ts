import type { Logger } from 'pino';
import { type Announcement, type AnnounceTarget, UNSEEN_NAMESPACE } from '#agent/probe/probe-target.ts';
import type { AddResponse, IpConfig, WireRoute } from '#pkg/agentapi/wire.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { type Holder, type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';

const DEFAULT_DESTINATION = { 4: '0.0.0.0/0', 6: '::/0' } as const;

/** The answer to the plugin. It is made from the records alone, so that a repeated ADD gets the same answer. */
export function toAddResponse(records: readonly IpRecord[]): AddResponse {
  const inOrder = records.toSorted((a, b) => compare(a, b));
  return { ips: inOrder.map(toIpConfig), routes: inOrder.flatMap(toRoutes) };
}

function compare(a: IpRecord, b: IpRecord): number {
  const [x, y] = [a.spec.holder.interface, b.spec.holder.interface];
  if (x !== y) return x < y ? -1 : 1;
  return recordFamily(a) - recordFamily(b);
}

function toIpConfig(record: IpRecord): IpConfig {
  const { address, prefix, gateway, pool, holder } = record.spec;
  return {
    version: recordFamily(record),
    address: `${address}/${prefix}`,
    nic: holder.interface,
    ipPool: pool.name,
    ...(gateway === undefined ? {} : { gateway }),
    enableGatewayDetection: false,
    enableIPConflictDetection: false,
  };
}

function toRoutes(record: IpRecord): WireRoute[] {
  const { gateway, cleanGateway, routes = [], holder } = record.spec;
  const all = routes.map(({ dst, gw }) => ({ ifName: holder.interface, dst, gw }));
  if (gateway === undefined || cleanGateway === true) return all;
  return [...all, { ifName: holder.interface, dst: DEFAULT_DESTINATION[recordFamily(record)], gw: gateway }];
}

/** Announces on one link. Never rejects. */
export interface Announcing {
  announce(target: AnnounceTarget): Promise<Announcement>;
}

/** Announces to the neighbours which MAC has an address now, whether it was probed or not. No call waits for it or fails because of it. */
export class Announcer {
  readonly #links: Announcing | null;
  readonly #log: Logger;
  readonly #said = new Set<Announcement['kind']>();

  /** `links` is null where this process may not send: that was said when it started. */
  constructor(links: Announcing | null, log: Logger) {
    this.#links = links;
    this.#log = log;
  }

  announce({ netns, interface: name }: Pick<Holder, 'netns' | 'interface'>, records: readonly IpRecord[]): void {
    if (this.#links === null || records.length === 0) return;
    const texts = records.map(({ spec }) => spec.address);
    const log = (outcome: Announcement) => this.#report(outcome, { addresses: texts, interface: name });
    if (netns === undefined) {
      log({ kind: 'no-namespace', why: UNSEEN_NAMESPACE });
    } else {
      void this.#links.announce({ netns, interface: name, addresses: texts.map(parseAddress) }).then(log);
    }
  }

  /** Each reason once: where a main plugin makes its links late, it is the same with every ADD. */
  #report(outcome: Announcement, fields: object): void {
    if (!('why' in outcome)) return;
    const level = this.#said.has(outcome.kind) ? 'debug' : 'warn';
    this.#said.add(outcome.kind);
    this.#log[level]({ ...fields, because: outcome.kind, why: outcome.why }, 'address not announced');
  }
}
