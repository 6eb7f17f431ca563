import type { Resource } from './kube-object.ts';

const SPIDERPOOL = { group: 'spiderpool.spidernet.io', version: 'v2beta1' };

export const POOLS: Resource = { ...SPIDERPOOL, plural: 'spiderippools', kind: 'SpiderIPPool' };
export const SUBNETS: Resource = { ...SPIDERPOOL, plural: 'spidersubnets', kind: 'SpiderSubnet' };
export const RESERVED_IPS: Resource = { ...SPIDERPOOL, plural: 'spiderreservedips', kind: 'SpiderReservedIP' };
export const ENDPOINTS: Resource = { ...SPIDERPOOL, plural: 'spiderendpoints', kind: 'SpiderEndpoint' };

/** The finalizer of pools, subnets and endpoints, in Spiderpool's spelling: the group only, without a name after a slash. */
export const FINALIZER = 'spiderpool.spidernet.io';
