interface Room {
  /** Rooms it may import; each must stand above it in ROOMS, so that no arrow can turn back. */
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  /** Which of its files may use Node's own modules. */
  readonly node: 'all' | 'none' | RegExp;
}

const pure = (rooms: readonly string[], packages: readonly string[] = []): Room => ({ rooms, packages, node: 'none' });

const DOMAIN = ['pkg/errors', 'pkg/ip', 'pkg/pool', 'pkg/crd'];
const DAEMON = [
  ...DOMAIN,
  'pkg/agentapi',
  'pkg/config',
  'pkg/log',
  'pkg/metrics',
  'pkg/http',
  'pkg/kube',
  'pkg/ledger',
  'pkg/adopt',
];

export const ROOMS: Readonly<Record<string, Room>> = {
  'pkg/errors': pure([]),
  'pkg/ip': pure(['pkg/errors'], ['ipaddr.js']),
  'pkg/pool': pure(['pkg/errors', 'pkg/ip']),
  'pkg/crd': pure(['pkg/errors', 'pkg/ip', 'pkg/pool']),
  'pkg/cni': pure(['pkg/errors']),
  'pkg/agentapi': pure(['pkg/errors', 'pkg/cni', 'pkg/crd']),
  'pkg/log': { rooms: ['pkg/errors'], packages: ['pino'], node: 'all' },
  'pkg/metrics': { rooms: ['pkg/errors'], packages: ['prom-client'], node: 'all' },
  'pkg/http': { rooms: [], packages: [], node: 'all' },
  // Settings: read by the daemons alike. Only the reader of the file knows files.
  'pkg/config': {
    rooms: ['pkg/errors', 'pkg/ip', 'pkg/crd'],
    packages: ['yaml'],
    node: /^pkg\/config\/read-config-file\.ts$/,
  },
  'pkg/kube': { rooms: [...DOMAIN, 'pkg/log'], packages: ['@kubernetes/client-node', 'yaml'], node: 'all' },
  'pkg/ledger': { rooms: [...DOMAIN, 'pkg/kube'], packages: [], node: 'all' },
  'pkg/adopt': { rooms: [...DOMAIN, 'pkg/kube', 'pkg/ledger'], packages: [], node: 'all' },
  // It runs on bare QuickJS: only its Node adapter may know Node.
  plugin: { rooms: ['pkg/errors', 'pkg/cni', 'pkg/agentapi'], packages: [], node: /^plugin\/node-[a-z-]+\.ts$/ },
  agent: { rooms: DAEMON, packages: ['pino', 'yaml', 'koffi'], node: 'all' },
  controller: { rooms: DAEMON, packages: ['pino'], node: 'all' },
  ctl: {
    rooms: [...DOMAIN, 'pkg/agentapi', 'pkg/kube', 'pkg/ledger', 'pkg/adopt'],
    packages: ['commander'],
    node: 'all',
  },
  'cmd/plugin': { rooms: ['plugin'], packages: [], node: 'all' },
  'cmd/agent': { rooms: [...DAEMON, 'agent'], packages: ['commander', 'pino'], node: 'all' },
  'cmd/controller': { rooms: [...DAEMON, 'controller'], packages: ['commander'], node: 'all' },
  'cmd/ctl': { rooms: ['ctl'], packages: [], node: 'all' },
};
