import { expect, test } from 'vitest';
import { decodeIpamConf, decodeRequestedIps } from './net-conf.ts';
import { JsonFields } from './untrusted-input.ts';

const decodeIpam = (ipam: unknown) => decodeIpamConf(new JsonFields({ ipam }, '', 'bad-config'));

test('an empty section means defaults', () => {
  expect(decodeIpam({})).toEqual({
    ipv4Pools: [],
    ipv6Pools: [],
    cleanGateway: false,
    matchMasterSubnet: false,
    warnings: [],
  });
});

test("Spiderpool's keys are read, a plain pool name as a list of one", () => {
  expect(
    decodeIpam({
      type: 'spiderpool',
      default_ipv4_ippool: ['a', 'b*'],
      default_ipv6_ippool: 'six',
      clean_gateway: true,
      match_master_subnet: true,
    }),
  ).toEqual({ ipv4Pools: ['a', 'b*'], ipv6Pools: ['six'], cleanGateway: true, matchMasterSubnet: true, warnings: [] });
});

test.each([
  { key: 'log_file_path', value: '/etc/passwd', because: 'no path is taken from network configuration' },
  { key: 'ipam_unix_socket_path', value: '/tmp/evil.sock', because: 'no path is taken from network configuration' },
  { key: 'kubernetes', value: { kubeconfig: '/x' }, because: 'no path is taken from network configuration' },
  { key: 'log_level', value: 7, because: 'the plugin logs through the agent' },
  { key: 'log_file_max_size', value: '100', because: 'the plugin logs through the agent' },
  { key: 'colour', value: [], because: 'it is not known' },
])('$key is ignored with a warning: $because', ({ key, value, because }) => {
  expect(decodeIpam({ [key]: value }).warnings).toEqual([`ipam key "${key}" is ignored: ${because}`]);
});

test('warnings are bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}${'x'.repeat(1000)}`, at]));
  const { warnings } = decodeIpam(many);
  expect(warnings).toHaveLength(21);
  expect(warnings[20]).toBe('980 more ipam keys are ignored');
  expect(Math.max(...warnings.map((warning) => warning.length))).toBeLessThan(200);
});

test.each([
  { ipam: undefined, message: 'ipam is missing in the network configuration' },
  { ipam: [], message: 'ipam must be an object' },
  { ipam: { type: 1 }, message: 'ipam.type must be a string' },
  { ipam: { default_ipv4_ippool: 1 }, message: 'ipam.default_ipv4_ippool must be a list' },
  { ipam: { default_ipv6_ippool: ['a', null] }, message: 'ipam.default_ipv6_ippool[1] must be a string' },
  { ipam: { default_ipv4_ippool: 'x'.repeat(254) }, message: 'ipam.default_ipv4_ippool is longer than 253 characters' },
  { ipam: { clean_gateway: 'yes' }, message: 'ipam.clean_gateway must be true or false' },
  { ipam: { match_master_subnet: 1 }, message: 'ipam.match_master_subnet must be true or false' },
])('$message', ({ ipam, message }) => {
  expect(() => decodeIpam(ipam)).toThrow(expect.objectContaining({ reason: 'bad-config', message }));
});

const requestedBy = (conf: object, args: readonly string[] = []) =>
  decodeRequestedIps(new JsonFields({ ...conf }, '', 'bad-config'), args);

test.each<{ name: string; conf: object; args?: string[]; ips: string[] }>([
  { name: 'nobody asks', conf: {}, ips: [] },
  {
    name: 'runtimeConfig',
    conf: { runtimeConfig: { ips: ['10.0.0.1/24', 'fd00::1'] } },
    ips: ['10.0.0.1/24', 'fd00::1'],
  },
  { name: 'args.cni', conf: { args: { cni: { ips: ['10.0.0.2'] } } }, ips: ['10.0.0.2'] },
  { name: 'a plain string', conf: { runtimeConfig: { ips: '10.0.0.1' } }, ips: ['10.0.0.1'] },
  { name: 'CNI_ARGS', conf: {}, args: ['10.0.0.3'], ips: ['10.0.0.3'] },
  {
    name: 'the same text in two places, as from Multus',
    conf: { runtimeConfig: { ips: ['10.88.3.77/16'] } },
    args: ['10.88.3.77/16'],
    ips: ['10.88.3.77/16'],
  },
  {
    name: 'places that differ',
    conf: { runtimeConfig: { ips: ['a'] }, args: { cni: { ips: ['b'] } } },
    args: ['c', 'a'],
    ips: ['a', 'b', 'c'],
  },
  { name: 'null lists', conf: { runtimeConfig: { ips: null }, args: { cni: null } }, ips: [] },
])('$name: $ips', ({ conf, args, ips }) => {
  expect(requestedBy(conf, args)).toEqual(ips);
});

test.each([
  { conf: { runtimeConfig: { ips: [1] } }, message: 'runtimeConfig.ips[0] must be a string' },
  { conf: { runtimeConfig: [] }, message: 'runtimeConfig must be an object' },
  { conf: { args: { cni: { ips: {} } } }, message: 'args.cni.ips must be a list' },
  { conf: { runtimeConfig: { ips: ['x'.repeat(65)] } }, message: 'runtimeConfig.ips[0] is longer than 64 characters' },
  { conf: { runtimeConfig: { ips: [...'123456789'] } }, message: '9 addresses are asked for, at most 8 can be' },
])('$message', ({ conf, message }) => {
  expect(() => requestedBy(conf)).toThrow(expect.objectContaining({ reason: 'bad-config', message }));
});

test('an overlong address in CNI_ARGS is a fault of the environment', () => {
  expect(() => requestedBy({}, ['1'.repeat(65)])).toThrow(expect.objectContaining({ reason: 'bad-environment' }));
});
