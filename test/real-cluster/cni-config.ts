import { UNDERLAY } from './plan.ts';

type Config = Readonly<Record<string, unknown>>;

/** Pods choose it by their RuntimeClass; without one they have a single NIC, served by ipledger. */
export const TWO_NICS = { name: 'two-nics', cniDirectory: '/etc/cni/two-nics' } as const;
/** The standard IPAM plugin in the place of ours, for comparison. */
export const HOST_LOCAL = { name: 'host-local', cniDirectory: '/etc/cni/host-local' } as const;
/** The delegating plugin of the tests. */
export const DELEGATE = 'delegate';

/** A configuration list of one plugin, as the file that a runtime reads. */
function list(name: string, plugin: Config, cniVersion = '1.1.0'): string {
  return JSON.stringify({ cniVersion, name, plugins: [plugin] }, null, 2);
}

const macvlan = (ipam: Config): Config => ({ type: 'macvlan', master: UNDERLAY.link, mode: 'bridge', ipam });

export const UNDERLAY_BY_IPLEDGER = list('underlay', macvlan({ type: 'ipledger' }));
/** containerd 1 knows no later version. */
export const UNDERLAY_IN_CNI_1_0 = list('underlay', macvlan({ type: 'ipledger' }), '1.0.0');

/** What a delegating plugin passes on are whole configurations, each with its own name. */
export const TWO_NICS_BY_IPLEDGER = list('two-nics', {
  type: DELEGATE,
  delegates: ['underlay', 'storage'].map((name) => ({ cniVersion: '1.1.0', name, ...macvlan({ type: 'ipledger' }) })),
});

/** Each node has a range of its own, because host-local keeps its ledger in files of the node. */
const hostLocal = (type: string, third: number): Config => {
  const range = { subnet: '10.88.0.0/16', rangeStart: `10.88.${third}.1`, rangeEnd: `10.88.${third}.250` };
  return macvlan({ type, ranges: [[range]], dataDir: `/run/cni-${type}` });
};

export const underlayByHostLocal = (node: number): string =>
  list('underlay-host-local', hostLocal('host-local', 200 + node));

/** As a cluster of Spiderpool names its plugin. Until ours is installed there, host-local has the name. */
export const underlayBySpiderpool = (node: number): string => list('underlay', hostLocal('spiderpool', 220 + node));
