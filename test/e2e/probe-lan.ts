import { readdirSync, readlinkSync } from 'node:fs';
import type { AnnounceTarget, ProbeTarget } from '#agent/probe/probe-target.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { makeNetns, type Netns } from '#test/support/netns.ts';

export const WIRINGS = ['veth', 'bridge', 'macvlan'] as const;
export type Wiring = (typeof WIRINGS)[number];

/** A pod whose eth0 is still down, as a main plugin leaves it, and a foreign host whose eth0 is up, on one link. */
export interface Lan extends AsyncDisposable {
  readonly pod: Netns;
  readonly host: Netns;
  /** The namespace of the bridge, or of the pod's network card. */
  readonly middle: Netns;
  readonly podMac: string;
  readonly hostMac: string;
}

/** Kernels notice a carrier late when both ends of a pair have the same interface index. */
const POD_LINK_INDEX = '70';

export async function makeLan(wiring: Wiring): Promise<Lan> {
  await using making = new AsyncDisposableStack();
  const host = making.use(await makeNetns());
  const middle = making.use(await makeNetns());
  const pod = making.use(await makeNetns());
  const ip = (netns: Netns, command: string) => netns.must('ip', ...command.split(' '));
  if (wiring === 'veth') {
    await ip(pod, `link add eth0 index ${POD_LINK_INDEX} type veth peer name eth0 netns ${host.name}`);
  } else if (wiring === 'bridge') {
    await ip(middle, 'link add br0 type bridge');
    await ip(middle, 'link set br0 up');
    for (const [name, netns] of [
      ['pod0', pod],
      ['host0', host],
    ] as const) {
      await ip(middle, `link add ${name} type veth peer name eth0 netns ${netns.name}`);
      await ip(middle, `link set ${name} up master br0`);
    }
  } else {
    await ip(middle, `link add up0 index 71 type veth peer name eth0 netns ${host.name}`);
    await ip(middle, 'link set up0 up');
    await ip(middle, `link add eth0 link up0 netns ${pod.name} type macvlan mode bridge`);
  }
  await ip(host, 'link set eth0 up');
  const [podMac, hostMac] = await Promise.all([macOf(pod), macOf(host)]);
  const made = making.move();
  return { pod, host, middle, podMac, hostMac, [Symbol.asyncDispose]: () => made.disposeAsync() };
}

async function macOf(netns: Netns): Promise<string> {
  const [link]: { address: string }[] = JSON.parse(await netns.must('ip', '-json', 'link', 'show', 'eth0'));
  return link?.address ?? '';
}

export function targetOn(
  { pod }: { pod: Pick<Netns, 'path'> },
  address: string,
  more: Partial<ProbeTarget> = {},
): ProbeTarget {
  return {
    netns: pod.path,
    interface: 'eth0',
    address: parseAddress(address),
    gateway: null,
    detectConflict: true,
    detectGateway: false,
    windowMs: 100,
    count: 3,
    ...more,
  };
}

export function announcementOn({ pod }: { pod: Pick<Netns, 'path'> }, ...addresses: readonly string[]): AnnounceTarget {
  return { netns: pod.path, interface: 'eth0', addresses: addresses.map(parseAddress) };
}

export async function giveAddress(netns: Netns, address: string): Promise<void> {
  const isIpv6 = address.includes(':');
  await netns.must('ip', 'address', 'add', address, 'dev', 'eth0', ...(isIpv6 ? ['nodad'] : []));
}

/** In the namespace, by its path under /proc/sys/net. */
export async function setSysctl(netns: Netns, path: string, value: string): Promise<void> {
  await netns.must('sh', '-c', `echo ${value} > /proc/sys/net/${path}`);
}

/** Every thread of this process that is not in the namespace of the process. */
export function strayThreads(): string[] {
  const home = readlinkSync('/proc/self/ns/net');
  return readdirSync('/proc/self/task').filter((id) => readlinkSync(`/proc/self/task/${id}/ns/net`) !== home);
}
