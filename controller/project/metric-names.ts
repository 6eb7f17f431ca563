interface Metric {
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly labels: readonly string[];
}

/** The metrics of the controller. Names with `spiderpool_` are documented by Spiderpool; some that it exports as counters are gauges here. */
export const CONTROLLER_METRICS = {
  spiderpool_total_ippool_counts: { type: 'gauge', help: 'Pools.', labels: [] },
  spiderpool_total_subnet_counts: { type: 'gauge', help: 'Subnets.', labels: [] },
  spiderpool_debug_ippool_total_ip_counts: {
    type: 'gauge',
    help: 'Addresses of a pool: ips less excludeIPs.',
    labels: ['SpiderIPPool'],
  },
  spiderpool_debug_ippool_available_ip_counts: {
    type: 'gauge',
    help: 'Addresses of a pool that could be given out now: neither reserved nor in any record.',
    labels: ['SpiderIPPool'],
  },
  spiderpool_debug_subnet_ippool_counts: { type: 'gauge', help: 'Pools of a subnet.', labels: ['SpiderSubnet'] },
  spiderpool_debug_subnet_total_ip_counts: { type: 'gauge', help: 'Addresses of a subnet.', labels: ['SpiderSubnet'] },
  spiderpool_debug_subnet_available_ip_counts: {
    type: 'gauge',
    help: 'Addresses of a subnet that no pool has.',
    labels: ['SpiderSubnet'],
  },
  spiderpool_ip_gc_counts_total: { type: 'counter', help: 'Addresses that were collected.', labels: [] },
  spiderpool_ip_gc_failure_counts_total: { type: 'counter', help: 'Collections that failed.', labels: [] },
  ipledger_collected_total: {
    type: 'counter',
    help: 'Records that were freed, retained, suspected or repaired, by cause.',
    labels: ['cause'],
  },
  ipledger_in_doubt_total: {
    type: 'counter',
    help: 'Records that became Suspect, or Retained without proof that the sandbox is gone, by cause.',
    labels: ['cause'],
  },
  ipledger_pool_records: { type: 'gauge', help: 'Records of a pool by state.', labels: ['pool', 'state'] },
  ipledger_pool_ready: {
    type: 'gauge',
    help: '1 while a pool gives out addresses; 0 with the reason: Invalid, Terminating, Overlap, Disabled.',
    labels: ['pool', 'reason'],
  },
  ipledger_pool_outside_records: {
    type: 'gauge',
    help: 'Addresses in use that are no longer in their pool.',
    labels: ['pool'],
  },
} as const satisfies Record<string, Metric>;
