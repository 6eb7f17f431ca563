import { setTimeout as sleep } from 'node:timers/promises';
import { bindPacketSocket, receiveFrame, sendFrame } from '#agent/probe/kernel/libc.ts';
import { findLink } from '#agent/probe/kernel/link.ts';
import { NETNS_DIRECTORIES } from '#agent/probe/kernel/netns-path.ts';
import { SocketOpener } from '#agent/probe/kernel/socket-opener.ts';
import { Ticker } from '#agent/probe/kernel/ticker.ts';
import type { Netns } from '#test/support/netns.ts';

export interface Peer extends AsyncDisposable {
  readonly mac: Buffer;
  send(frame: Buffer): void;
}

/** A host whose behaviour is a function that gets every frame of one type on its eth0. */
export async function openPeer(
  netns: Netns,
  etherType: number,
  hear: (frame: Buffer, peer: Peer) => void,
): Promise<Peer> {
  const ticker = new Ticker(1);
  const opener = new SocketOpener(NETNS_DIRECTORIES, ticker);
  const socket = await opener.open(netns.path);
  const link = await findLink(socket.fd, 'eth0');
  if (link === null) throw new Error(`${netns.name} has no eth0`);
  bindPacketSocket(socket.fd, etherType, link.index);
  let isClosed = false;
  const peer: Peer = {
    mac: link.mac,
    send: (frame) => sendFrame(socket.fd, frame),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await listening;
      socket[Symbol.dispose]();
      opener[Symbol.dispose]();
      await sleep(0);
    },
  };
  const listening = ticker.until(() => {
    const frame = Buffer.alloc(2048);
    for (let length = receiveFrame(socket.fd, frame); length !== null; length = receiveFrame(socket.fd, frame)) {
      hear(Buffer.from(frame.subarray(0, length)), peer);
    }
    return isClosed ? true : null;
  });
  return peer;
}

/** A reply of `mac` to an ARP request, for the requested address. */
export function arpReply(mac: Buffer, request: Buffer): Buffer {
  const reply = Buffer.from(request);
  request.copy(reply, 0, 6, 12);
  mac.copy(reply, 6);
  reply.writeUInt16BE(2, 20);
  mac.copy(reply, 22);
  request.copy(reply, 28, 38, 42);
  request.copy(reply, 32, 22, 32);
  return reply;
}
