import { linkControl, linkControlOffThread, pointerTo } from './libc.ts';
import { ProbeFailure } from './probe-failure.ts';

const SIOCGIFFLAGS = 0x8913;
const SIOCSIFFLAGS = 0x8914;
const SIOCGIFHWADDR = 0x8927;
const SIOCGIFINDEX = 0x8933;
const SIOCETHTOOL = 0x8946;
const ETHTOOL_GLINK = 0x0a;
const REQUEST_LENGTH = 40;
const NAME_LENGTH = 16;
const VALUE_AT = NAME_LENGTH;
const ETHERNET = 1;
const UP = 0x1;
const RUNNING = 0x40;
const NOARP = 0x80;

export interface Link {
  readonly index: number;
  readonly mac: Buffer;
  /** Whether its hosts find each other by ARP or NDP at all. */
  readonly hasNeighbours: boolean;
}

/** By a socket of the link's namespace, from whichever namespace this thread is in. Null where there is no such link. */
export async function findLink(socket: number, name: string): Promise<Link | null> {
  const request = requestFor(name);
  // Off this thread: for a name it does not know the kernel runs modprobe first.
  if (!(await linkControlOffThread(socket, SIOCGIFINDEX, request))) return null;
  const index = request.readInt32LE(VALUE_AT);
  const hardware = ask(socket, SIOCGIFHWADDR, name);
  const isEthernet = hardware.readUInt16LE(VALUE_AT) === ETHERNET;
  const mac = Buffer.from(hardware.subarray(VALUE_AT + 2, VALUE_AT + 8));
  return { index, mac, hasNeighbours: isEthernet && (readFlags(socket, name) & NOARP) === 0 };
}

export async function setLinkUp(socket: number, name: string): Promise<void> {
  const flags = readFlags(socket, name);
  if ((flags & UP) !== 0) return;
  const request = requestFor(name);
  request.writeUInt16LE(flags | UP, VALUE_AT);
  if (!(await linkControlOffThread(socket, SIOCSIFFLAGS, request))) linkControl(socket, SIOCSIFFLAGS, request);
}

/**
 * Not merely up. Until the kernel has noticed the carrier, at both ends, it drops what is sent and calls that a success;
 * mostly it notices at once, sometimes after a second.
 */
export function isLinkRunning(socket: number, name: string): boolean {
  return (readFlags(socket, name) & (UP | RUNNING)) === (UP | RUNNING);
}

/** The flags may lag behind the loss of a carrier by a second; this does not. True where the driver cannot tell. */
export async function hasCarrier(socket: number, name: string): Promise<boolean> {
  const value = Buffer.alloc(8);
  value.writeUInt32LE(ETHTOOL_GLINK, 0);
  const request = requestFor(name);
  request.writeBigUInt64LE(pointerTo(value), VALUE_AT);
  const isTold = await linkControlOffThread(socket, SIOCETHTOOL, request);
  return !isTold || value.readUInt32LE(4) !== 0;
}

function readFlags(socket: number, name: string): number {
  return ask(socket, SIOCGIFFLAGS, name).readUInt16LE(VALUE_AT);
}

function ask(socket: number, request: number, name: string): Buffer {
  const answer = requestFor(name);
  linkControl(socket, request, answer);
  return answer;
}

function requestFor(name: string): Buffer {
  const request = Buffer.alloc(REQUEST_LENGTH);
  if (Buffer.byteLength(name) >= NAME_LENGTH) throw new ProbeFailure(`${name} is too long for the name of an interface`);
  request.write(name);
  return request;
}
