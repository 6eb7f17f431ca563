import { mutateBytes, mutateJson } from './fuzz-mutate.ts';
import { Random } from './fuzz-random.ts';

export type Target = 'stdin' | 'answers';

export interface FuzzCase {
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Buffer;
  /** What the agent sends before it closes the connection. */
  readonly answer: Buffer;
}

const ATTACHMENT = {
  CNI_CONTAINERID: 'c1',
  CNI_IFNAME: 'eth0',
  CNI_NETNS: '/var/run/netns/a',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=prod;K8S_POD_NAME=web-0;K8S_POD_UID=4f0c;IP=10.0.2.50',
};
const IPAM = {
  type: 'ipledger',
  default_ipv4_ippool: ['pool-a', 'pool-b'],
  default_ipv6_ippool: 'pool-6',
  clean_gateway: true,
  match_master_subnet: false,
  log_level: 'debug',
};
const CONF = { cniVersion: '1.1.0', name: 'net', type: 'macvlan', master: 'eth0', ipam: IPAM };
const ADDED = {
  ips: [
    { version: 4, address: '10.0.2.50/24', nic: 'eth0', ipPool: 'pool-a', gateway: '10.0.2.1', vlan: 0 },
    { version: 6, address: 'fd00::a/64', nic: 'eth0', ipPool: 'pool-6', enableIPConflictDetection: false },
  ],
  routes: [{ ifName: 'eth0', dst: '10.9.0.0/16', gw: '10.0.2.1' }],
  dns: { nameservers: ['10.0.0.10'], search: ['svc'] },
};
const REFUSED = { reason: 'no-eligible-pool', message: 'no pool is eligible', details: 'pool-a: node' };

/** A valid request and answer of each verb. */
const CALLS = [
  {
    verb: 'ADD',
    conf: { ...CONF, runtimeConfig: { ips: ['10.0.2.50/24'] }, args: { cni: { ips: ['10.0.2.50'] } } },
    body: ADDED,
  },
  { verb: 'ADD', conf: { ...CONF, cniVersion: '0.4.0' }, body: ADDED },
  { verb: 'DEL', conf: CONF, body: null },
  {
    verb: 'CHECK',
    conf: {
      ...CONF,
      prevResult: {
        interfaces: [{ name: 'eth0', sandbox: '/var/run/netns/a' }],
        ips: [{ address: '10.0.2.50/24', gateway: '10.0.2.1', interface: 0 }],
      },
    },
    body: null,
  },
  {
    verb: 'GC',
    conf: { ...CONF, 'cni.dev/valid-attachments': [{ containerID: 'c1', ifname: 'eth0' }] },
    body: { released: 1 },
  },
  { verb: 'STATUS', conf: CONF, body: null },
  { verb: 'VERSION', conf: { cniVersion: '1.0.0' }, body: null },
];

export function makeCase(seed: number, index: number, target: Target): FuzzCase {
  const random = new Random(Math.imul(seed, 0x9e3779b1) + index);
  const { verb, conf, body } = random.pick(CALLS);
  const env = { CNI_COMMAND: verb, ...ATTACHMENT };
  if (target === 'answers') {
    return { env, stdin: toJson(conf), answer: makeAnswer(random, body) };
  }
  return {
    env: random.isOneIn(5) ? mutateEnv(random, env) : env,
    stdin: makeStdin(random, conf),
    answer: say(200, toJson(body)),
  };
}

function makeStdin(random: Random, conf: object): Buffer {
  if (random.isOneIn(400)) return makeLarge(random, conf);
  if (random.isOneIn(20)) return random.bytes(random.below(300));
  if (random.isOneIn(3)) return toJson(mutateJson(random, conf));
  return mutateBytes(random, toJson(random.isOneIn(3) ? mutateJson(random, conf) : conf));
}

function makeLarge(random: Random, conf: object): Buffer {
  return random.pick([
    () => Buffer.alloc(1024 * 1024 + random.below(3) - 1, ' '),
    () => toJson({ ...conf, junk: 'ü'.repeat(random.below(600_000)) }),
    () => toJson({ ...conf, junk: new Array(random.below(100_000)).fill([]) }),
    () => Buffer.from('['.repeat(random.below(1_000_000))),
    () => Buffer.from('{"a":'.repeat(random.below(200_000))),
    () => random.bytes(100_000),
  ])();
}

function mutateEnv(random: Random, env: Readonly<Record<string, string>>): Record<string, string> {
  const name = random.pick(Object.keys(env));
  const value = mutateBytes(random, Buffer.from(env[name] ?? ''))
    .toString('utf8')
    .replaceAll('\0', '');
  const { [name]: _dropped, ...rest } = env;
  return random.isOneIn(8) ? rest : { ...rest, [name]: value };
}

function makeAnswer(random: Random, body: object | null): Buffer {
  if (random.isOneIn(500)) return makeLargeAnswer(random);
  if (random.isOneIn(20)) return random.bytes(random.below(300));
  const status = random.pick([200, 200, 200, 204, 301, 400, 404, 500, 503]);
  const told = status < 300 ? body : random.pick([REFUSED, 'a text', null, {}]);
  const changed = random.isOneIn(3) ? told : mutateJson(random, told);
  const bytes = random.isOneIn(4) ? mutateBytes(random, toJson(changed)) : toJson(changed);
  const answer = random.isOneIn(3) ? sayInChunks(random, status, bytes) : say(status, bytes);
  return random.isOneIn(2) ? mutateBytes(random, answer) : answer;
}

function makeLargeAnswer(random: Random): Buffer {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  return random.pick([
    () => say(200, Buffer.alloc(random.below(5_000_000), 'x')),
    () => say(200, toJson({ ips: new Array(random.below(50_000)).fill(ADDED.ips[0]) })),
    () => Buffer.from(`${chunked}${'1\r\nx\r\n'.repeat(random.below(100_000))}0\r\n\r\n`),
    () => Buffer.from(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(random.below(10_000))}\r\n{}`),
    () => Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${'['.repeat(random.below(4_000_000))}`),
  ])();
}

function say(status: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} X\r\ncontent-length: ${body.length}\r\n\r\n`), body]);
}

function sayInChunks(random: Random, status: number, body: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from(`HTTP/1.1 ${status} X\r\ntransfer-encoding: chunked\r\n\r\n`)];
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + 1 + random.below(50));
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
    at += chunk.length;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function toJson(value: unknown): Buffer {
  return Buffer.from(value === null ? '' : (JSON.stringify(value) ?? ''));
}
