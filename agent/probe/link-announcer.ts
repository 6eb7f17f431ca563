import { bindPacketSocket, sendFrame } from '#agent/probe/kernel/libc.ts';
import { findLink, isLinkRunning, type Link } from '#agent/probe/kernel/link.ts';
import { type NetnsReach, whyUnseen } from '#agent/probe/kernel/netns-path.ts';
import { NetnsFailure, whyFailed } from '#agent/probe/kernel/probe-failure.ts';
import type { NetnsSocket, SocketOpener } from '#agent/probe/kernel/socket-opener.ts';
import { SystemCallError } from '#agent/probe/kernel/system-call-error.ts';
import { chooseDialect } from '#agent/probe/wire/choose-dialect.ts';
import { Slots } from '#pkg/concurrency/slots.ts';
import { type Address, formatAddress } from '#pkg/ip/address.ts';
import { lookAgain, type Patience } from './look-again.ts';
import type { Announcement, AnnounceTarget } from './probe-target.ts';

/** Each announcement holds a socket while it waits. Most sockets are kept for probes, because calls wait for those. */
const AT_ONCE = 64;
const MOST_WAITING = 512;

export interface LinkAnnouncerOptions {
  readonly sockets: SocketOpener;
  /** The time to wait for the link to be up, and again for its addresses not to be tentative. */
  readonly waitMs: number;
  readonly sight: NetnsReach;
  readonly throwIfStopped: () => void;
}

/** Announces addresses on a link. Main plugins set the link up, and some create it, after the IPAM answer, so this waits for it. */
export class LinkAnnouncer {
  readonly #options: LinkAnnouncerOptions;
  readonly #slots = new Slots(AT_ONCE, MOST_WAITING);

  constructor(options: LinkAnnouncerOptions) {
    this.#options = options;
  }

  /** When the link is up; callers need not wait for it. Never rejects. No system call is made in this turn of the event loop. */
  async announce(target: AnnounceTarget): Promise<Announcement> {
    // Checked before the wait for a turn.
    const unseen = whyUnseen(target.netns, this.#options.sight);
    if (unseen !== null) return { kind: 'no-namespace', why: unseen };
    if (!(await this.#slots.take())) return { kind: 'failed', why: 'too many are to be announced before it' };
    try {
      return await this.#announce(target);
    } catch (thrown) {
      const kind = thrown instanceof NetnsFailure ? 'no-namespace' : 'failed';
      return { kind, why: whyFailed(thrown, target.interface) ?? String(thrown) };
    } finally {
      this.#slots.giveBack();
    }
  }

  async #announce({ netns, interface: name, addresses }: AnnounceTarget): Promise<Announcement> {
    const { sockets } = this.#options;
    using socket = await sockets.open(netns);
    const patience = this.#patienceWith(socket);
    const link = await lookAgain(lookForRunning(socket.fd, name), patience);
    if (link === null) return await whyNotRunning(socket.fd, { netns, interface: name });
    if (!link.hasNeighbours) return { kind: 'not-needed' };
    bindPacketSocket(socket.fd, 0, link.index);
    const send = (address: Address) =>
      sendFrame(socket.fd, chooseDialect({ mac: link.mac, address, gateway: null }).announcement);
    for (const address of addresses.filter(({ family }) => family === 4)) send(address);
    const rest = addresses.filter(({ family }) => family === 6);
    if (rest.length === 0) return { kind: 'announced' };
    using list = await sockets.openAddressList(netns);
    for (const address of rest) {
      // If a switch sends the frame back, the pod's kernel would take a tentative address for a duplicate.
      const isSettled = await lookAgain(async () => (list.isTentative(address) ? null : true), patience);
      if (isSettled === null) return { kind: 'failed', why: `${formatAddress(address)} stays tentative on ${name}` };
      send(address);
    }
    return { kind: 'announced' };
  }

  #patienceWith(socket: NetnsSocket): Patience {
    const { waitMs, throwIfStopped } = this.#options;
    const throwIfOver = () => {
      throwIfStopped();
      // The socket keeps a deleted namespace and its links alive.
      if (!socket.isNetnsInPlace()) throw new NetnsFailure('the network namespace went away before its link was up');
    };
    return { waitMs, throwIfOver };
  }
}

/** A name is looked up on another thread, which costs more than to see that a link is still down. So that is done first. */
function lookForRunning(socket: number, name: string): () => Promise<Link | null> {
  let isThere = false;
  return async () => {
    if (isThere && isStillDown(socket, name)) return null;
    const link = await findLink(socket, name);
    isThere = link !== null;
    return link !== null && (!link.hasNeighbours || isLinkRunning(socket, name)) ? link : null;
  };
}

/** False also for a link that went away: another one may get its name. */
function isStillDown(socket: number, name: string): boolean {
  try {
    return !isLinkRunning(socket, name);
  } catch (thrown) {
    if (thrown instanceof SystemCallError) return false;
    throw thrown;
  }
}

async function whyNotRunning(
  socket: number,
  { netns, interface: name }: Pick<AnnounceTarget, 'netns' | 'interface'>,
): Promise<Announcement> {
  const isThere = (await findLink(socket, name)) !== null;
  if (isThere) return { kind: 'link-down', why: `${name} is down` };
  return { kind: 'no-link', why: `${netns} has no interface ${name}` };
}
