interface Room {
  /** Rooms that it may import; each must stand above it in ROOMS, so that there is no circle. */
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  /** Which of its files may use Node's own modules. */
  readonly node: 'all' | 'none' | RegExp;
}

const pure = (rooms: readonly string[], packages: readonly string[] = []): Room => ({ rooms, packages, node: 'none' });
const onNode = (rooms: readonly string[], packages: readonly string[] = []): Room => ({ rooms, packages, node: 'all' });

const VALUES = ['pkg/errors', 'pkg/ip', 'pkg/text', 'pkg/decode'];
const DOMAIN = [...VALUES, 'pkg/pool', 'pkg/record', 'pkg/crd', 'pkg/autopool'];
const KUBE = ['pkg/kube/transport', 'pkg/kube/objects', 'pkg/kube/client'];
const CLUSTER = [...KUBE, 'pkg/kube/watch', 'pkg/kube/write', 'pkg/kube/leader', 'pkg/kube/events'];
const LEDGERS = ['pkg/ledger', 'pkg/ledger/kubernetes', 'pkg/ledger/sqlite'];
const OPERATIONS = ['pkg/config', 'pkg/log', 'pkg/metrics', 'pkg/http'];

/** What every room of the agent may import, besides rooms of the agent. */
const AGENT = [...DOMAIN, 'pkg/concurrency', 'pkg/agentapi', 'pkg/ledger', 'pkg/kube/transport', 'pkg/kube/events'];
const CONTROLLER = [...DOMAIN, ...CLUSTER, 'pkg/ledger', 'pkg/ledger/kubernetes', 'pkg/http'];

/** Every folder with production code, the lowest first. A folder that is not listed here fails the test. */
export const ROOMS: Readonly<Record<string, Room>> = {
  'pkg/errors': pure([]),
  'pkg/ip': pure(['pkg/errors'], ['ipaddr.js']),
  'pkg/concurrency': onNode([]),
  'pkg/text': pure(['pkg/errors', 'pkg/ip']),
  'pkg/decode': pure(['pkg/errors', 'pkg/ip', 'pkg/text']),
  'pkg/pool': pure(['pkg/errors', 'pkg/ip', 'pkg/text']),
  'pkg/record': pure([...VALUES, 'pkg/pool']),
  'pkg/crd': pure([...VALUES, 'pkg/pool', 'pkg/record']),
  // Pools that are made for one application: what controller and agents both must know of them.
  'pkg/autopool': pure([...VALUES, 'pkg/pool', 'pkg/record', 'pkg/crd']),
  'pkg/cni': pure(['pkg/errors']),
  'pkg/agentapi': pure(['pkg/errors', 'pkg/cni', 'pkg/record']),
  'pkg/tar': pure([]),
  // How much memory a daemon may use; the files of the kernel are passed in.
  'pkg/memory': pure([]),
  'pkg/log': onNode(['pkg/errors'], ['pino']),
  'pkg/http': onNode([]),
  'pkg/metrics': onNode(['pkg/errors', 'pkg/http'], ['prom-client']),
  // Settings of both daemons. Only the reader of the file uses the file system.
  'pkg/config': {
    rooms: [...VALUES, 'pkg/crd', 'pkg/agentapi'],
    packages: ['yaml'],
    node: /^pkg\/config\/read-config-file\.ts$/,
  },
  'pkg/kube/transport': onNode(['pkg/errors', 'pkg/concurrency']),
  'pkg/kube/objects': pure([...DOMAIN, 'pkg/kube/transport']),
  // The kinds of Cluster API, as objects of the API server.
  'pkg/capi': pure([...VALUES, 'pkg/pool', 'pkg/record', 'pkg/kube/objects']),
  // The kinds of Vitistack, and what a static block of it means to the ledger.
  'pkg/vitistack': pure([...DOMAIN, 'pkg/kube/objects']),
  'pkg/crd/schema': pure(['pkg/record', 'pkg/vitistack']),
  'pkg/kube/client': onNode(
    ['pkg/errors', 'pkg/kube/transport', 'pkg/kube/objects'],
    ['@kubernetes/client-node', 'yaml'],
  ),
  'pkg/kube/watch': onNode(KUBE),
  'pkg/kube/write': onNode(KUBE),
  'pkg/kube/leader': onNode(KUBE),
  'pkg/kube/events': onNode(KUBE),
  'pkg/ledger': onNode(['pkg/errors', 'pkg/ip', 'pkg/record']),
  'pkg/ledger/sqlite': onNode(['pkg/errors', 'pkg/ip', 'pkg/record', 'pkg/ledger']),
  'pkg/ledger/kubernetes': onNode(['pkg/errors', 'pkg/ip', 'pkg/record', 'pkg/ledger', ...CLUSTER]),
  'pkg/adopt': onNode([...DOMAIN, ...CLUSTER, 'pkg/capi', 'pkg/ledger', 'pkg/ledger/kubernetes']),
  // The same for the machines of Vitistack.
  'pkg/adopt/vitistack': onNode([...DOMAIN, ...CLUSTER, 'pkg/ledger/kubernetes', 'pkg/vitistack', 'pkg/adopt']),

  // It runs on bare QuickJS: only its Node adapter may import modules of Node.
  plugin: pure(['pkg/errors', 'pkg/cni', 'pkg/agentapi']),
  'plugin/node': onNode(['pkg/errors', 'plugin']),

  // The agent. One call: its time, its turn, its failpoints.
  'agent/calls': onNode(AGENT),
  // The state of the node: its records, network namespaces and processes.
  'agent/node': onNode([...AGENT, 'pkg/kube/objects']),
  // The ports through which pools and holders come in; agent/cluster and agent/host implement them.
  'agent/sources': onNode(AGENT),
  'agent/probe/wire': onNode(['pkg/ip']),
  // The only importer of koffi.
  'agent/probe/kernel': onNode(['pkg/errors', 'pkg/ip'], ['koffi']),
  'agent/probe': onNode(
    ['pkg/errors', 'pkg/ip', 'pkg/concurrency', 'agent/probe/wire', 'agent/probe/kernel'],
    ['pino'],
  ),
  // Metrics and Events.
  'agent/report': onNode([...AGENT, 'pkg/metrics', 'agent/probe']),
  // Work that is still to be settled with the ledger: spool and journal.
  'agent/debts': onNode([...AGENT, 'agent/calls', 'agent/node']),
  // Which addresses of a pool look free from this node.
  'agent/views': onNode([...AGENT, 'agent/node', 'agent/sources']),
  'agent/release': onNode(
    [...AGENT, 'agent/calls', 'agent/node', 'agent/sources', 'agent/debts', 'agent/views'],
    ['pino'],
  ),
  'agent/allocate': onNode(
    [
      ...AGENT,
      'agent/calls',
      'agent/node',
      'agent/sources',
      'agent/probe',
      'agent/report',
      'agent/debts',
      'agent/views',
      'agent/release',
    ],
    ['pino'],
  ),
  // How Suspect addresses that nobody takes come back.
  'agent/suspects': onNode(
    [...AGENT, 'agent/node', 'agent/sources', 'agent/report', 'agent/views', 'agent/release', 'agent/allocate'],
    ['pino'],
  ),
  'agent/inspect': onNode([...AGENT, 'agent/node', 'agent/sources', 'agent/debts', 'agent/views', 'agent/allocate']),
  // Whether the owner that a pod names is its owner.
  'agent/owners': onNode([...AGENT, 'pkg/kube/objects', 'agent/sources']),
  'agent/cluster': onNode(
    [...AGENT, ...CLUSTER, 'agent/calls', 'agent/node', 'agent/sources', 'agent/owners', 'agent/release'],
    ['pino'],
  ),
  'agent/host': onNode([...AGENT, 'agent/calls', 'agent/node', 'agent/sources', 'agent/release'], ['pino', 'yaml']),
  'agent/serve': onNode(
    [
      ...AGENT,
      'pkg/http',
      'pkg/metrics',
      'pkg/ledger/sqlite',
      'agent/calls',
      'agent/node',
      'agent/sources',
      'agent/report',
      'agent/release',
      'agent/allocate',
      'agent/inspect',
    ],
    ['pino'],
  ),
  'agent/compose': onNode(
    [
      ...AGENT,
      ...CLUSTER,
      ...LEDGERS,
      ...OPERATIONS,
      'agent/calls',
      'agent/node',
      'agent/sources',
      'agent/probe',
      'agent/probe/kernel',
      'agent/report',
      'agent/debts',
      'agent/views',
      'agent/release',
      'agent/allocate',
      'agent/suspects',
      'agent/inspect',
      'agent/owners',
      'agent/cluster',
      'agent/host',
      'agent/serve',
    ],
    ['pino'],
  ),
  'agent/install': onNode(['pkg/errors'], ['pino']),

  // The controller: what the leader sees, the skeleton of its reconcilers, then one folder per task.
  'controller/cluster-view': onNode(CONTROLLER, ['pino']),
  'controller/reconcile': onNode([...CONTROLLER, 'controller/cluster-view'], ['pino']),
  'controller/judge': pure([...DOMAIN, 'controller/cluster-view']),
  // Which ranges of a subnet the pool of each application has.
  'controller/allot': pure(DOMAIN),
  'controller/project': onNode([...CONTROLLER, 'controller/cluster-view', 'controller/reconcile'], ['pino']),
  // What reconcilers share that give an address to each object that asks for one.
  'controller/give': onNode([...CONTROLLER, 'controller/cluster-view', 'controller/project'], ['pino']),
  // What is to be done for a claim of Cluster API.
  'controller/claim-plan': pure([...CONTROLLER, 'pkg/capi', 'controller/project']),
  'controller/claims': onNode(
    [
      ...CONTROLLER,
      'pkg/capi',
      'controller/cluster-view',
      'controller/reconcile',
      'controller/project',
      'controller/give',
      'controller/claim-plan',
    ],
    ['pino'],
  ),
  // What is to be done for an IPAllocation of Vitistack.
  'controller/allocation-plan': pure([...CONTROLLER, 'pkg/vitistack', 'controller/project']),
  'controller/allocations': onNode(
    [
      ...CONTROLLER,
      'pkg/vitistack',
      'controller/cluster-view',
      'controller/reconcile',
      'controller/project',
      'controller/give',
      'controller/allocation-plan',
    ],
    ['pino'],
  ),
  // What is to be done for a NetworkConfiguration of Vitistack. Statuses are compared with Node's own function.
  'controller/provider-plan': {
    rooms: [...CONTROLLER, 'pkg/vitistack', 'controller/project'],
    packages: [],
    node: /^controller\/provider-plan\/[a-z-]*(status|summary)\.ts$/,
  },
  // What Vitistack expects of static-ip-operator, besides the addresses.
  'controller/provider': onNode(
    [
      ...CONTROLLER,
      'pkg/vitistack',
      'controller/cluster-view',
      'controller/reconcile',
      'controller/project',
      'controller/give',
      'controller/allocations',
      'controller/provider-plan',
    ],
    ['pino'],
  ),
  // Starts what serves Vitistack, while its kinds are here.
  'controller/vitistack': onNode(
    [
      ...CONTROLLER,
      'pkg/vitistack',
      'controller/cluster-view',
      'controller/reconcile',
      'controller/project',
      'controller/give',
      'controller/allocations',
      'controller/provider-plan',
      'controller/provider',
    ],
    ['pino'],
  ),
  'controller/lifecycle': onNode(
    [...CONTROLLER, 'controller/cluster-view', 'controller/reconcile', 'controller/project'],
    ['pino'],
  ),
  // Makes the pools of applications that ask for subnets.
  'controller/subnets': onNode(
    [
      ...CONTROLLER,
      'pkg/concurrency',
      'controller/cluster-view',
      'controller/reconcile',
      'controller/allot',
      'controller/project',
      'controller/lifecycle',
    ],
    ['pino'],
  ),
  'controller/admission': onNode(
    [...CONTROLLER, 'controller/cluster-view', 'controller/project', 'controller/lifecycle'],
    ['pino'],
  ),
  'controller/collect': onNode(
    [...CONTROLLER, 'controller/cluster-view', 'controller/reconcile', 'controller/judge'],
    ['pino'],
  ),
  controller: onNode(
    [
      ...CONTROLLER,
      ...OPERATIONS,
      'pkg/adopt',
      'pkg/adopt/vitistack',
      'pkg/vitistack',
      'controller/cluster-view',
      'controller/reconcile',
      'controller/judge',
      'controller/project',
      'controller/claims',
      'controller/provider-plan',
      'controller/vitistack',
      'controller/lifecycle',
      'controller/subnets',
      'controller/admission',
      'controller/collect',
    ],
    ['pino'],
  ),

  'ctl/render': onNode([...DOMAIN, 'pkg/agentapi', 'pkg/adopt']),
  'ctl/client': onNode([...DOMAIN, ...CLUSTER, ...LEDGERS, 'pkg/vitistack', 'pkg/agentapi', 'pkg/adopt', 'ctl/render']),
  'ctl/support': onNode([...DOMAIN, ...KUBE, 'pkg/ledger/kubernetes', 'ctl/client']),
  'ctl/commands': onNode([
    ...DOMAIN,
    'pkg/agentapi',
    'pkg/adopt',
    'pkg/adopt/vitistack',
    'pkg/tar',
    'ctl/render',
    'ctl/client',
    'ctl/support',
  ]),
  ctl: onNode([...DOMAIN, 'pkg/agentapi', 'ctl/render', 'ctl/client', 'ctl/commands'], ['commander']),

  // Makes the image; no program that is shipped imports it.
  'hack/oci': onNode(['pkg/text', 'pkg/tar']),
  'cmd/plugin': onNode(['plugin', 'plugin/node']),
  'cmd/agent': onNode(
    [...AGENT, ...CLUSTER, ...OPERATIONS, 'agent/report', 'agent/serve', 'agent/compose', 'agent/install'],
    ['commander', 'pino'],
  ),
  'cmd/controller': onNode([...DOMAIN, ...CLUSTER, ...OPERATIONS, 'controller', 'controller/claims'], ['commander']),
  'cmd/launch': onNode(['pkg/errors', 'pkg/config', 'pkg/memory']),
  'cmd/ctl': onNode(['pkg/agentapi', 'ctl/client', 'ctl']),
};
