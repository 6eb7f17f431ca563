import { UNDERLAY } from './plan.ts';

type Config = Readonly<Record<string, unknown>>;

/** A configuration list of one plugin, as the file that a runtime reads. */
function list(name: string, plugin: Config): string {
  return JSON.stringify({ cniVersion: '1.1.0', name, plugins: [plugin] }, null, 2);
}

const macvlan = (ipam: Config): Config => ({ type: 'macvlan', master: UNDERLAY.link, mode: 'bridge', ipam });

export const UNDERLAY_BY_IPLEDGER = list('underlay', macvlan({ type: 'ipledger' }));

/** Each node has a range of its own, because host-local keeps its ledger in files of the node. */
export function underlayByHostLocal(node: number): string {
  const range = { subnet: '10.88.0.0/16', rangeStart: `10.88.${200 + node}.1`, rangeEnd: `10.88.${200 + node}.250` };
  return list(
    'underlay-host-local',
    macvlan({ type: 'host-local', ranges: [[range]], dataDir: '/run/cni-host-local' }),
  );
}
