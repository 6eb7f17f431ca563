import { bindPacketSocket, sendFrame } from '#agent/probe/kernel/libc.ts';
import { findLink } from '#agent/probe/kernel/link.ts';
import { NETNS_DIRECTORIES } from '#agent/probe/kernel/netns-path.ts';
import { SocketOpener } from '#agent/probe/kernel/socket-opener.ts';
import { Ticker } from '#agent/probe/kernel/ticker.ts';
import { buildArpRequest } from '#agent/probe/wire/arp-frame.ts';
import { parseAddress } from '#pkg/ip/address.ts';

/** Broadcasts ARP requests for other addresses until SIGTERM, then prints the number per second. */
const [netns = '', perSecond = '1'] = process.argv.slice(2);
const ticker = new Ticker(2);
const socket = await new SocketOpener(NETNS_DIRECTORIES, ticker).open(netns);
const link = await findLink(socket.fd, 'eth0');
if (link === null) throw new Error(`${netns} has no eth0`);
bindPacketSocket(socket.fd, 0, link.index);
const frame = buildArpRequest(link.mac, parseAddress('10.9.200.1'), parseAddress('10.9.200.2'));

let isOver = false;
process.on('SIGTERM', () => {
  isOver = true;
});
const startedAtMs = performance.now();
let sent = 0;
await ticker.until((nowMs) => {
  const due = ((nowMs - startedAtMs) / 1000) * Number(perSecond);
  for (; sent < due; sent += 1) sendFrame(socket.fd, frame);
  return isOver ? true : null;
});
process.stdout.write(`${(sent / (performance.now() - startedAtMs)) * 1000}`);
process.exit();
