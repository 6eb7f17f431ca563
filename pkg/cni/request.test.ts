import { expect, test } from 'vitest';
import { peekVersion } from './net-conf.ts';
import { parseAttachment, parseCniArgs, parseRequest } from './request.ts';

const ENV = {
  CNI_CONTAINERID: 'c1',
  CNI_IFNAME: 'eth0',
  CNI_NETNS: '/var/run/netns/x',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0;K8S_POD_UID=u1;IP=10.0.0.9',
};
const CONF = { cniVersion: '1.1.0', name: 'net', type: 'macvlan', ipam: { type: 'ipledger' } };

function parse(env: Record<string, string>, conf: unknown) {
  return parseRequest((name) => env[name], typeof conf === 'string' ? conf : JSON.stringify(conf));
}

test('ADD carries everything the agent needs', () => {
  expect(parse({ ...ENV, CNI_COMMAND: 'ADD' }, CONF)).toEqual({
    verb: 'ADD',
    cniVersion: '1.1.0',
    network: 'net',
    containerID: 'c1',
    ifName: 'eth0',
    netns: '/var/run/netns/x',
    pod: { namespace: 'ns', name: 'web-0', uid: 'u1' },
    ipam: { ipv4Pools: [], ipv6Pools: [], cleanGateway: false, matchMasterSubnet: false, warnings: [] },
    requestedIPs: ['10.0.0.9'],
  });
});

test('DEL looks at nothing but its attachment', () => {
  const { CNI_NETNS: _, ...env } = ENV;
  expect(parse({ ...env, CNI_COMMAND: 'DEL' }, { cniVersion: '0.3.1', ipam: { clean_gateway: 'broken' } })).toEqual({
    verb: 'DEL',
    cniVersion: '0.3.1',
    network: undefined,
    containerID: 'c1',
    ifName: 'eth0',
    netns: '',
    pod: { namespace: 'ns', name: 'web-0', uid: 'u1' },
  });
});

test('CHECK carries the addresses of prevResult', () => {
  const prevResult = { cniVersion: '1.1.0', ips: [{ address: '10.0.0.9/24' }] };
  expect(parse({ ...ENV, CNI_COMMAND: 'CHECK' }, { ...CONF, prevResult })).toMatchObject({
    verb: 'CHECK',
    addresses: [{ address: '10.0.0.9/24' }],
  });
});

test('GC and STATUS need no container, whether unset or empty', () => {
  const empty = { CNI_CONTAINERID: '', CNI_IFNAME: '', CNI_NETNS: '' };
  expect(parse({ ...empty, CNI_COMMAND: 'GC' }, { ...CONF, 'cni.dev/valid-attachments': [] })).toEqual({
    verb: 'GC',
    cniVersion: '1.1.0',
    network: 'net',
    validAttachments: [],
  });
  expect(parse({ ...empty, CNI_COMMAND: 'STATUS' }, CONF)).toMatchObject({ verb: 'STATUS' });
  expect(parse({ CNI_COMMAND: 'STATUS' }, CONF)).toMatchObject({ verb: 'STATUS' });
});

test.each(['', 'rubbish', '{"cniVersion":"9.9.9"}'])('VERSION answers whatever is on stdin: %j', (stdin) => {
  expect(parse({ CNI_COMMAND: 'VERSION' }, stdin)).toEqual({ verb: 'VERSION', cniVersion: '1.1.0' });
});

test.each<{ name: string; env?: Record<string, string>; conf: unknown; reason: string; message: string | RegExp }>([
  {
    name: 'no verb',
    env: { CNI_COMMAND: '' },
    conf: CONF,
    reason: 'bad-environment',
    message: 'CNI_COMMAND is not set',
  },
  {
    name: 'unknown verb',
    env: { CNI_COMMAND: 'add' },
    conf: CONF,
    reason: 'bad-environment',
    message: 'CNI_COMMAND is none of CNI\'s verbs: "add"',
  },
  {
    name: 'no version',
    conf: { name: 'net' },
    reason: 'incompatible-version',
    message: 'CNI version of the network configuration is not supported: "0.1.0"',
  },
  {
    name: 'future version',
    conf: { ...CONF, cniVersion: '9.9.9' },
    reason: 'incompatible-version',
    message: 'CNI version of the network configuration is not supported: "9.9.9"',
  },
  {
    name: 'version of a wrong type',
    conf: { ...CONF, cniVersion: 1 },
    reason: 'bad-config',
    message: 'cniVersion must be a string',
  },
  {
    name: 'CHECK too early',
    env: { CNI_COMMAND: 'CHECK' },
    conf: { ...CONF, cniVersion: '0.3.1' },
    reason: 'incompatible-version',
    message: 'CNI version 0.3.1 of the network configuration does not allow CHECK',
  },
  {
    name: 'STATUS too early',
    env: { CNI_COMMAND: 'STATUS' },
    conf: { ...CONF, cniVersion: '1.0.0' },
    reason: 'incompatible-version',
    message: 'CNI version 1.0.0 of the network configuration does not allow STATUS',
  },
  {
    name: 'no name',
    conf: { ...CONF, name: undefined },
    reason: 'bad-config',
    message: 'name is missing in the network configuration',
  },
  { name: 'bad name', conf: { ...CONF, name: '../x' }, reason: 'bad-config', message: /^name must be at most 253/ },
  {
    name: 'GC without name',
    env: { CNI_COMMAND: 'GC' },
    conf: { ...CONF, name: '', 'cni.dev/valid-attachments': [] },
    reason: 'bad-config',
    message: 'name is missing in the network configuration',
  },
  { name: 'empty stdin', conf: '', reason: 'bad-input', message: 'the network configuration on stdin is empty' },
])('$name: $message', ({ env, conf, reason, message }) => {
  expect(() => parse({ ...ENV, CNI_COMMAND: 'ADD', ...env }, conf)).toThrow(
    expect.objectContaining({
      reason,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    }),
  );
});

test('the supported versions are named', () => {
  expect(() => parse({ ...ENV, CNI_COMMAND: 'ADD' }, {})).toThrow(
    expect.objectContaining({
      details:
        'The configuration is of version 0.1.0, because it states none; supported are 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0.',
    }),
  );
});

test.each([
  { stdin: '{"cniVersion":"0.4.0"}', version: '0.4.0' },
  { stdin: '{"cniVersion":"0.2.0"}', version: '1.1.0' },
  { stdin: '{"cniVersion":{}}', version: '1.1.0' },
  { stdin: '', version: '1.1.0' },
])('an error about $stdin is said in $version', ({ stdin, version }) => {
  expect(peekVersion(stdin)).toBe(version);
});

const GOOD = { CNI_CONTAINERID: 'c1', CNI_IFNAME: 'eth0', CNI_NETNS: '/var/run/netns/x' };
const env = (variables: Record<string, string>) => (name: string) => variables[name];

test('an attachment is container, interface and namespace', () => {
  expect(parseAttachment(env(GOOD), true)).toEqual({ containerID: 'c1', ifName: 'eth0', netns: '/var/run/netns/x' });
});

test('a DEL may come without a namespace', () => {
  expect(parseAttachment(env({ ...GOOD, CNI_NETNS: '' }), false).netns).toBe('');
});

test.each([
  { variables: {}, message: 'required environment variables are not set: CNI_CONTAINERID, CNI_IFNAME, CNI_NETNS' },
  { variables: { ...GOOD, CNI_NETNS: '' }, message: 'required environment variables are not set: CNI_NETNS' },
  { variables: { ...GOOD, CNI_CONTAINERID: '../x' }, message: /^CNI_CONTAINERID must be .* not "\.\.\/x"$/ },
  { variables: { ...GOOD, CNI_IFNAME: 'a/b' }, message: /^CNI_IFNAME must be .* not "a\/b"$/ },
  { variables: { ...GOOD, CNI_NETNS: 'netns' }, message: /^CNI_NETNS must be an absolute path .* not "netns"$/ },
  {
    variables: { ...GOOD, CNI_NETNS: `/${'x'.repeat(1024)}` },
    message: /^CNI_NETNS must be an absolute path of at most 1024/,
  },
])('$message', ({ variables, message }) => {
  expect(() => parseAttachment(env(variables), true)).toThrow(
    expect.objectContaining({
      reason: 'bad-environment',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    }),
  );
});

const NOBODY = { namespace: '', name: '', uid: '' };

test('nothing says nothing', () => {
  expect(parseCniArgs('')).toEqual({ pod: NOBODY, ips: [] });
});

test('the order of the keys does not matter', () => {
  expect(
    parseCniArgs(
      'K8S_POD_INFRA_CONTAINER_ID=143a;K8S_POD_UID=dbb2;IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=db-1',
    ),
  ).toEqual({ pod: { namespace: 'default', name: 'db-1', uid: 'dbb2' }, ips: [] });
});

test('Multus sends every key twice, IgnoreUnknown in two spellings', () => {
  const twice =
    'IgnoreUnknown=true;K8S_POD_NAME=a;K8S_POD_NAMESPACE=ns;K8S_POD_UID=u;IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a;K8S_POD_UID=u;IP=10.88.3.77/16';
  expect(parseCniArgs(twice)).toEqual({ pod: { namespace: 'ns', name: 'a', uid: 'u' }, ips: ['10.88.3.77/16'] });
});

test('IP may be a list', () => {
  expect(parseCniArgs('IP=10.0.0.1, fd00::1/64,').ips).toEqual(['10.0.0.1', 'fd00::1/64']);
});

test('unknown keys pass when the runtime says so, wherever it says it', () => {
  expect(parseCniArgs('IgnoreUnknown=1;COLOR=red;IgnoreUnknown=0').pod).toEqual(NOBODY);
  expect(parseCniArgs('COLOR=red;IgnoreUnknown=TRUE').pod).toEqual(NOBODY);
});

test.each([
  {
    name: 'no equals sign',
    text: 'K8S_POD_NAME',
    message: 'CNI_ARGS has an item that is not KEY=VALUE: "K8S_POD_NAME"',
  },
  { name: 'no key', text: '=x', message: 'CNI_ARGS has an item that is not KEY=VALUE: "=x"' },
  {
    name: 'binary rubbish',
    text: '\u0001\u0002',
    message: 'CNI_ARGS has an item that is not KEY=VALUE: "\\u0001\\u0002"',
  },
  { name: 'unknown key', text: 'COLOR=red', message: 'CNI_ARGS has unknown keys: "COLOR"' },
  {
    name: 'unknown key, not ignored',
    text: 'COLOR=red;IgnoreUnknown=false',
    message: 'CNI_ARGS has unknown keys: "COLOR"',
  },
  { name: 'inherited key', text: 'toString=1', message: 'CNI_ARGS has unknown keys: "toString"' },
  {
    name: 'many unknown keys',
    text: 'A=1;B=1;C=1;D=1;E=1;F=1',
    message: 'CNI_ARGS has unknown keys: "A", "B", "C", "D", "E" and more',
  },
  {
    name: 'odd flag',
    text: 'IgnoreUnknown=perhaps',
    message: 'IgnoreUnknown in CNI_ARGS must be true or false, not "perhaps"',
  },
  {
    name: 'two pods',
    text: 'K8S_POD_UID=a;K8S_POD_UID=b',
    message: 'CNI_ARGS says K8S_POD_UID twice and differently: "a" and "b"',
  },
  { name: 'two addresses', text: 'IP=1;IP=2', message: 'CNI_ARGS says IP twice and differently: "1" and "2"' },
  {
    name: 'long name',
    text: `K8S_POD_NAME=${'a'.repeat(254)}`,
    message: 'K8S_POD_NAME in CNI_ARGS has control characters or more than 253 characters',
  },
  { name: 'too long', text: `A=${'x'.repeat(65_536)}`, message: 'CNI_ARGS is longer than 65536 characters' },
  { name: 'too many', text: 'A=1;'.repeat(101), message: 'CNI_ARGS has more than 100 pairs' },
])('$name: $message', ({ text, message }) => {
  expect(() => parseCniArgs(text)).toThrow(expect.objectContaining({ reason: 'bad-environment', message }));
});
