import { expect, test } from 'vitest';
import { decodeIpamConf } from './ipam-conf.ts';
import { JsonFields } from './json-fields.ts';

const decode = (ipam: unknown) => decodeIpamConf(new JsonFields({ ipam }, '', 'bad-config'));

test('an empty section means defaults', () => {
  expect(decode({})).toEqual({
    ipv4Pools: [],
    ipv6Pools: [],
    cleanGateway: false,
    matchMasterSubnet: false,
    warnings: [],
  });
});

test("Spiderpool's keys are read, a plain pool name as a list of one", () => {
  expect(
    decode({
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
  expect(decode({ [key]: value }).warnings).toEqual([`ipam key "${key}" is ignored: ${because}`]);
});

test('warnings are bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}${'x'.repeat(1000)}`, at]));
  const { warnings } = decode(many);
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
  expect(() => decode(ipam)).toThrow(expect.objectContaining({ reason: 'bad-config', message }));
});
