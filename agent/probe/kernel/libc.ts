import koffi, { type KoffiFunc } from 'koffi';
import { SystemCallError } from './system-call-error.ts';

const CLONE_NEWNET = 0x40000000;
const NS_GET_NSTYPE = 0xb703;
const AF_PACKET = 17;
const SOCK_RAW_NONBLOCK_CLOEXEC = 0o3 | 0o4000 | 0o2000000;
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SOL_PACKET = 263;
const PACKET_ADD_MEMBERSHIP = 1;
const INSTRUCTION = 8;

type Call<Args extends unknown[]> = KoffiFunc<(...args: Args) => number>;
type Bytes = Buffer | null;

/** Keeps the memory of arguments from garbage collection while another thread uses it. */
const inFlight = new Set<unknown[]>();

const libc = koffi.load(null);
const filterProgram = koffi.struct({ length: 'uint16', instructions: 'void *' });

const setns: Call<[number, number]> = libc.func('int setns(int, int)');
const socket: Call<[number, number, number]> = libc.func('int socket(int, int, int)');
const bind: Call<[number, Bytes, number]> = libc.func('int bind(int, void *, uint32_t)');
const ioctl: Call<[number, number, Bytes]> = libc.func('int ioctl(int, unsigned long, void *)');
const send: Call<[number, Bytes, number, number]> = libc.func('intptr_t send(int, void *, size_t, int)');
const recv: Call<[number, Bytes, number, number]> = libc.func('intptr_t recv(int, void *, size_t, int)');
const setsockopt: Call<[number, number, number, Bytes, number]> = libc.func(
  'int setsockopt(int, int, int, void *, uint32_t)',
);
const attach: Call<[number, number, number, { length: number; instructions: Buffer }, number]> = libc.func(
  'setsockopt',
  'int',
  ['int', 'int', 'int', koffi.pointer(filterProgram), 'uint32_t'],
);

/** Moves this thread, and every thread that it starts from now on. */
export function enterNetns(fd: number): void {
  check('setns', setns(fd, CLONE_NEWNET));
}

export function isNetns(fd: number): boolean {
  return ioctl(fd, NS_GET_NSTYPE, null) === CLONE_NEWNET;
}

/** Opened without a protocol: with one, each socket waits for an RCU grace period here and again at bind. */
export function openPacketSocket(): number {
  return check('socket', socket(AF_PACKET, SOCK_RAW_NONBLOCK_CLOEXEC, 0));
}

/** The socket receives frames after this call; with protocol 0 it only sends. */
export function bindPacketSocket(fd: number, etherType: number, linkIndex: number): void {
  const address = Buffer.alloc(20);
  address.writeUInt16LE(AF_PACKET, 0);
  address.writeUInt16BE(etherType, 2);
  address.writeInt32LE(linkIndex, 4);
  check('bind', bind(fd, address, address.length));
}

export function attachFilter(fd: number, instructions: Buffer): void {
  const program = { length: instructions.length / INSTRUCTION, instructions };
  check('SO_ATTACH_FILTER', attach(fd, SOL_SOCKET, SO_ATTACH_FILTER, program, koffi.sizeof(filterProgram)));
}

/** Lets frames to a multicast MAC address pass the link's own filter for as long as the socket is open. */
export async function joinGroup(fd: number, linkIndex: number, mac: Buffer): Promise<void> {
  const membership = Buffer.alloc(16);
  membership.writeInt32LE(linkIndex, 0);
  membership.writeUInt16LE(mac.length, 6);
  mac.copy(membership, 8);
  const args: Parameters<typeof setsockopt> = [fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership, membership.length];
  if ((await offThread(setsockopt, ...args)) < 0) check('PACKET_ADD_MEMBERSHIP', setsockopt(...args));
}

export function sendFrame(fd: number, frame: Buffer): void {
  check('send', send(fd, frame, frame.length, 0));
}

/** The length of the next frame, cut to the size of `into`; null when none is waiting. */
export function receiveFrame(fd: number, into: Buffer): number | null {
  const length = recv(fd, into, into.length, 0);
  if (length >= 0) return length;
  return koffi.errno() === koffi.os.errno['EAGAIN'] ? null : check('recv', length);
}

export function linkControl(fd: number, request: number, argument: Buffer): void {
  check('ioctl', ioctl(fd, request, argument));
}

/** The same on another thread; false if it failed. */
export async function linkControlOffThread(fd: number, request: number, argument: Buffer): Promise<boolean> {
  return (await offThread(ioctl, fd, request, argument)) >= 0;
}

/** The address of memory that an argument points to. The memory must not be collected before the call ends. */
export function pointerTo(bytes: Buffer): bigint {
  return koffi.address(bytes);
}

/** Runs a call that may wait for a lock of the kernel on another thread. errno stays on the other thread, so a failed call is repeated on this one. */
function offThread<Args extends unknown[]>(call: Call<Args>, ...args: Args): Promise<number> {
  inFlight.add(args);
  return new Promise((resolve, reject) => {
    const done = (error: unknown, result: number) => {
      inFlight.delete(args);
      if (error) reject(error);
      else resolve(result);
    };
    call.async(...([...args, done] as Parameters<typeof call.async>));
  });
}

function check(call: string, result: number): number {
  if (result < 0) throw new SystemCallError(call, koffi.errno());
  return result;
}
