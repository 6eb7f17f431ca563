import { UNDERLAY } from './plan.ts';

type Config = Readonly<Record<string, unknown>>;

/** A configuration list of one plugin, as the file that a runtime reads. */
function list(name: string, plugin: Config): string {
  return JSON.stringify({ cniVersion: '1.1.0', name, plugins: [plugin] }, null, 2);
}

const macvlan = (ipam: Config): Config => ({ type: 'macvlan', master: UNDERLAY.link, mode: 'bridge', ipam });

export const UNDERLAY_BY_IPLEDGER = list('underlay', macvlan({ type: 'ipledger' }));
