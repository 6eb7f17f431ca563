import { setTimeout as sleep } from 'node:timers/promises';
import { attachFilter, bindPacketSocket, joinGroup, receiveFrame, sendFrame } from '#agent/probe/kernel/libc.ts';
import { findLink, isLinkReady, readDriver, setLinkUp } from '#agent/probe/kernel/link.ts';
import { NETNS_DIRECTORIES, type NetnsReach, whyHidden } from '#agent/probe/kernel/netns-path.ts';
import { ProbeFailure, whyFailed } from '#agent/probe/kernel/probe-failure.ts';
import { SocketOpener } from '#agent/probe/kernel/socket-opener.ts';
import { Ticker } from '#agent/probe/kernel/ticker.ts';
import { chooseDialect } from '#agent/probe/wire/choose-dialect.ts';
import type { Address } from '#pkg/ip/address.ts';
import { Conversation, type Wire } from './conversation.ts';
import { LinkAnnouncer } from './link-announcer.ts';
import type { ProbeTarget, ProbeVerdict } from './probe-target.ts';

const TICK_MS = 3;
const CARRIER_WAIT_MS = 2_000;
const CARRIER_LOOK_MS = 20;
const LINK_WAIT_MS = 5_000;

export interface ProberOptions {
  /** Directories whose direct children may be network namespaces, besides /proc/<pid>/ns/net. */
  readonly netnsDirectories?: readonly string[];
  /** Whether this process and the runtime share the PID namespace. */
  readonly seesProcesses?: boolean;
  /** How long an announcement waits for its link to be up, and again for its addresses not to be tentative. */
  readonly linkWaitMs?: number;
}

/** Asks on the pod's link whether another host uses an address. Create it at boot, before any thread enters a namespace. */
export class Prober implements Disposable {
  /** Announces by the sockets of this prober. */
  readonly announcer: LinkAnnouncer;
  readonly #ticker = new Ticker(TICK_MS);
  readonly #sight: NetnsReach;
  readonly #sockets: SocketOpener;
  #isDisposed = false;

  constructor(options: ProberOptions = {}) {
    const { netnsDirectories: directories = NETNS_DIRECTORIES, seesProcesses = true } = options;
    this.#sight = { directories, seesProcesses };
    this.#sockets = new SocketOpener(directories, this.#ticker);
    this.announcer = new LinkAnnouncer({
      sockets: this.#sockets,
      waitMs: options.linkWaitMs ?? LINK_WAIT_MS,
      sight: this.#sight,
      throwIfStopped: () => this.#throwIfOver(undefined),
    });
  }

  /** Rejects only for errors of this program. An aborted probe returns `failed`. */
  async probe(target: ProbeTarget, signal?: AbortSignal): Promise<ProbeVerdict> {
    try {
      return await this.#probe(target, () => this.#throwIfOver(signal));
    } catch (thrown) {
      const why = whyFailed(thrown, target.interface);
      if (why === null) throw thrown;
      return { kind: 'failed', why };
    }
  }

  /** Open probes fail at their next tick. */
  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#sockets[Symbol.dispose]();
  }

  async #probe(target: ProbeTarget, throwIfOver: () => void): Promise<ProbeVerdict> {
    const { netns, interface: name, detectConflict } = target;
    const gateway = gatewayOf(target);
    if (!detectConflict && gateway === null) return { kind: 'skipped', why: 'there is nothing to ask' };
    throwIfOver();
    const hidden = whyHidden(netns, this.#sight);
    if (hidden !== null) return { kind: 'skipped', why: hidden };
    using socket = await this.#sockets.open(netns);
    const link = await findLink(socket.fd, name);
    if (link === null) return { kind: 'skipped', why: `${netns} has no interface ${name} yet` };
    if (!link.hasNeighbours) return { kind: 'skipped', why: `${name} is a link without ARP and NDP` };
    // Its parent link receives every answer for an address that the ipvlan does not have yet.
    if ((await readDriver(socket.fd, name)) === 'ipvlan') {
      return { kind: 'skipped', why: `${name} is an ipvlan: it would not hear answers` };
    }
    if (target.isBorrowed === true && !(await isLinkReady(socket.fd, name))) {
      return { kind: 'skipped', why: `${name} is down` };
    }
    const wasDown = await this.#makeReady(socket.fd, name, throwIfOver);

    const dialect = chooseDialect({ mac: link.mac, address: target.address, gateway });
    attachFilter(socket.fd, dialect.filter);
    for (const group of dialect.groups) await joinGroup(socket.fd, link.index, group);
    bindPacketSocket(socket.fd, dialect.etherType, link.index);
    // The peer of a veth pair that was just set up may drop the first answer, so one more probe is sent.
    const count = target.count + Number(wasDown);
    const plan = { ...target, count, detectGateway: gateway !== null };
    const conversation = new Conversation(wireOf(socket.fd), dialect, plan);
    const outcome = await this.#ticker.until((nowMs) => {
      throwIfOver();
      return conversation.step(nowMs);
    });
    if (outcome.kind === 'conflict') return outcome;
    // Silence counts only if the link was up, so that an answer could have arrived.
    if (!(await isLinkReady(socket.fd, name))) throw new ProbeFailure(`${name} went down during the probe`);
    if (!socket.isNetnsInPlace()) throw new ProbeFailure(`network namespace ${netns} went away during the probe`);
    return outcome;
  }

  /** Whether the link was down before. */
  async #makeReady(socket: number, name: string, throwIfOver: () => void): Promise<boolean> {
    const wasDown = await setLinkUp(socket, name);
    const giveUpAtMs = performance.now() + CARRIER_WAIT_MS;
    while (!(await isLinkReady(socket, name))) {
      throwIfOver();
      if (performance.now() > giveUpAtMs) throw new ProbeFailure(`${name} is up but has no carrier`);
      await sleep(CARRIER_LOOK_MS);
    }
    return wasDown;
  }

  #throwIfOver(signal: AbortSignal | undefined): void {
    if (signal?.aborted) throw new ProbeFailure('the caller gave up');
    if (this.#isDisposed) throw new ProbeFailure('the agent stops');
  }
}

function gatewayOf({ address, gateway, detectGateway }: ProbeTarget): Address | null {
  if (!detectGateway || gateway === null) return null;
  if (gateway.family !== address.family) throw new ProbeFailure('the gateway is of another family than the address');
  if (gateway.value === address.value) throw new ProbeFailure('the gateway is the address itself');
  return gateway;
}

function wireOf(socket: number): Wire {
  return { send: (frame) => sendFrame(socket, frame), receive: (into) => receiveFrame(socket, into) };
}
