import { expect, test } from 'vitest';
import { peekVersion } from './net-conf.ts';
import { parseRequest } from './request.ts';

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
