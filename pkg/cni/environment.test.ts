import { expect, test } from 'vitest';
import { parseAttachment, parseCniArgs } from './environment.ts';

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
