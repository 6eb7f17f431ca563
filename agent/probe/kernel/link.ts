import { linkControl, linkControlOffThread, pointerTo } from './libc.ts';
import { ProbeFailure } from './probe-failure.ts';

const SIOCGIFFLAGS = 0x8913;
const SIOCSIFFLAGS = 0x8914;
const SIOCGIFHWADDR = 0x8927;
const SIOCGIFINDEX = 0x8933;
const SIOCETHTOOL = 0x8946;
const ETHTOOL_GDRVINFO = 0x03;
const ETHTOOL_GLINK = 0x0a;
const DRIVER_INFO_LENGTH = 196;
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
  /** Whether hosts on this link use ARP or NDP. */
  readonly hasNeighbours: boolean;
}

/** Uses a socket of the link's namespace, so the namespace of this thread does not matter. Null if there is no such link. */
export async function findLink(socket: number, name: string): Promise<Link | null> {
  const request = requestFor(name);
  // On another thread: for an unknown name the kernel first runs modprobe.
  if (!(await linkControlOffThread(socket, SIOCGIFINDEX, request))) return null;
  const index = request.readInt32LE(VALUE_AT);
  const hardware = ask(socket, SIOCGIFHWADDR, name);
  const isEthernet = hardware.readUInt16LE(VALUE_AT) === ETHERNET;
  const mac = Buffer.from(hardware.subarray(VALUE_AT + 2, VALUE_AT + 8));
  const hasNeighbours = isEthernet && (readFlags(socket, name) & NOARP) === 0;
  return { index, mac, hasNeighbours };
}

/** False if it was up before. */
export async function setLinkUp(socket: number, name: string): Promise<boolean> {
  const flags = readFlags(socket, name);
  if ((flags & UP) !== 0) return false;
  const request = requestFor(name);
  request.writeUInt16LE(flags | UP, VALUE_AT);
  if (!(await linkControlOffThread(socket, SIOCSIFFLAGS, request))) linkControl(socket, SIOCSIFFLAGS, request);
  return true;
}

/** Up and connected, from the driver where it reports that: the kernel's flag RUNNING may be late by a second. */
export async function isLinkReady(socket: number, name: string): Promise<boolean> {
  const carrier = Buffer.alloc(8);
  const isTold = await askDriver(socket, name, ETHTOOL_GLINK, carrier);
  const flags = readFlags(socket, name);
  return (flags & UP) !== 0 && (isTold ? carrier.readUInt32LE(4) !== 0 : (flags & RUNNING) !== 0);
}

/** From the kernel's flag RUNNING, which is set last: before that the kernel drops sent frames. */
export function isLinkRunning(socket: number, name: string): boolean {
  return (readFlags(socket, name) & (UP | RUNNING)) === (UP | RUNNING);
}

/** The name of the driver; empty if the kernel does not report it. */
export async function readDriver(socket: number, name: string): Promise<string> {
  const info = Buffer.alloc(DRIVER_INFO_LENGTH);
  const isTold = await askDriver(socket, name, ETHTOOL_GDRVINFO, info);
  return isTold ? info.toString('latin1', 4, info.indexOf(0, 4)) : '';
}

/** On another thread: it waits for the kernel's lock on all links. */
async function askDriver(socket: number, name: string, command: number, answer: Buffer): Promise<boolean> {
  answer.writeUInt32LE(command, 0);
  const request = requestFor(name);
  request.writeBigUInt64LE(pointerTo(answer), VALUE_AT);
  return await linkControlOffThread(socket, SIOCETHTOOL, request);
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
  if (Buffer.byteLength(name) >= NAME_LENGTH)
    throw new ProbeFailure(`${name} is too long for the name of an interface`);
  request.write(name);
  return request;
}
