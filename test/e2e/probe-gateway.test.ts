import { afterEach, expect, test } from 'vitest';
import { Prober } from '#agent/probe/prober.ts';
import { parseArp } from '#agent/probe/wire/arp-frame.ts';
import { ETHER_TYPE } from '#agent/probe/wire/ethernet-frame.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { giveAddress, makeLan, strayThreads, targetOn, WIRINGS } from './probe-lan.ts';
import { arpReply, openPeer } from './probe-peer.ts';

const FAMILIES = [
  { family: 'IPv4', address: '10.9.0.50', gateway: '10.9.0.1', other: '10.9.0.2', prefix: 24 },
  { family: 'IPv6', address: 'fd09::50', gateway: 'fd09::1', other: 'fd09::2', prefix: 64 },
];
const CASES = WIRINGS.flatMap((wiring) => FAMILIES.map((it) => ({ wiring, ...it })));

afterEach(() => {
  expect(strayThreads()).toEqual([]);
});

test.each(CASES)('over $wiring, $family: a gateway that is there, and one that is not', async (row) => {
  await using lan = await makeLan(row.wiring);
  await giveAddress(lan.host, `${row.gateway}/${row.prefix}`);
  using prober = new Prober();
  const asking = (gateway: string, detectConflict: boolean) =>
    prober.probe(targetOn(lan, row.address, { gateway: parseAddress(gateway), detectGateway: true, detectConflict }));
  expect(await asking(row.gateway, true)).toEqual({ kind: 'free' });
  const verdicts = await Promise.all([asking(row.gateway, false), asking(row.other, false), asking(row.other, true)]);
  expect(verdicts).toEqual([{ kind: 'free' }, { kind: 'gateway-unreachable' }, { kind: 'gateway-unreachable' }]);
});

test.each(FAMILIES)('$family: a conflict is reported at once, even if the gateway is silent', async (row) => {
  await using lan = await makeLan('veth');
  await giveAddress(lan.host, `${row.address}/${row.prefix}`);
  using prober = new Prober();
  const both = { gateway: parseAddress(row.other), detectGateway: true };
  expect(await prober.probe(targetOn(lan, row.address, both))).toEqual({ kind: 'conflict', mac: lan.hostMac });
});

test('a gateway of a link-local address', async () => {
  await using lan = await makeLan('macvlan');
  await giveAddress(lan.host, 'fe80::1/64');
  using prober = new Prober();
  const target = targetOn(lan, 'fd09::50', { gateway: parseAddress('fe80::1'), detectGateway: true });
  expect(await prober.probe(target)).toEqual({ kind: 'free' });
});

test('the question for the gateway, which names the address, is sent only after all probes', async () => {
  await using lan = await makeLan('veth');
  await lan.pod.must('ip', 'link', 'set', 'eth0', 'up');
  using prober = new Prober();
  const heard: string[] = [];
  await using _peer = await openPeer(lan.host, ETHER_TYPE.arp, (frame, peer) => {
    const message = parseArp(frame);
    if (message === null) return;
    heard.push(`${formatAddress(message.sender)} ${formatAddress(message.target)}`);
    if (message.sender.value !== 0n) peer.send(arpReply(peer.mac, frame));
  });
  const target = targetOn(lan, '10.9.0.50', { gateway: parseAddress('10.9.0.1'), detectGateway: true });
  expect(await prober.probe(target)).toEqual({ kind: 'free' });
  const probe = '0.0.0.0 10.9.0.50';
  expect(heard).toEqual([probe, probe, probe, '10.9.0.50 10.9.0.1']);
});

test.each([
  { name: 'no gateway', gateway: null, kind: 'skipped', why: 'there is nothing to ask' },
  { name: 'of another family', gateway: parseAddress('fd09::1'), kind: 'failed', why: 'another family' },
  { name: 'the address itself', gateway: parseAddress('10.9.0.50'), kind: 'failed', why: 'the address itself' },
])('a gateway that cannot be asked: $name', async ({ gateway, kind, why }) => {
  await using lan = await makeLan('veth');
  using prober = new Prober();
  const target = targetOn(lan, '10.9.0.50', { gateway, detectGateway: true, detectConflict: false });
  expect(await prober.probe(target)).toEqual({ kind, why: expect.stringContaining(why) });
});
