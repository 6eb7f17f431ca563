import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import {
  type Allocation,
  allowsVerb,
  isSupportedVersion,
  isVerb,
  SUPPORTED_VERSIONS,
  toAddResult,
  toErrorDocument,
  type Verb,
} from './result.ts';

test.each<{ verb: Verb; allowedBy: readonly string[] }>([
  { verb: 'ADD', allowedBy: ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] },
  { verb: 'DEL', allowedBy: ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] },
  { verb: 'CHECK', allowedBy: ['0.4.0', '1.0.0', '1.1.0'] },
  { verb: 'GC', allowedBy: ['1.1.0'] },
  { verb: 'STATUS', allowedBy: ['1.1.0'] },
])('$verb is allowed by $allowedBy', ({ verb, allowedBy }) => {
  expect(SUPPORTED_VERSIONS.filter((version) => allowsVerb(version, verb))).toEqual(allowedBy);
});

test.each(['add', 'toString', '', 'UPDATE'])('%j is no verb', (text) => {
  expect(isVerb(text)).toBe(false);
});

test.each(['0.2.0', '1.2.0', '9.9.9', '', null, 1])('%j is no supported version', (value) => {
  expect(isSupportedVersion(value)).toBe(false);
});

const ALLOCATION: Allocation = {
  ips: [
    { version: 4, address: '10.6.1.10/16', nic: 'eth0', gateway: '10.6.0.1' },
    { version: 6, address: 'fd00:6::a/64', nic: 'eth0' },
    { version: 4, address: '10.7.1.10/16', nic: 'net1', gateway: '10.7.0.1' },
  ],
  routes: [
    { ifName: 'eth0', dst: '0.0.0.0/0', gw: '10.6.0.1' },
    { ifName: 'eth0', dst: '10.9.0.0/16', gw: '' },
    { ifName: 'net1', dst: '10.8.0.0/16', gw: '10.7.0.2' },
  ],
};

test.each(SUPPORTED_VERSIONS)('the result of %s has this interface only, in the shape of its version', (cniVersion) => {
  const hasFamily = cniVersion.startsWith('0.');
  expect(toAddResult(cniVersion, 'eth0', ALLOCATION)).toEqual({
    cniVersion,
    ips: [
      { ...(hasFamily ? { version: '4' } : {}), address: '10.6.1.10/16', gateway: '10.6.0.1' },
      { ...(hasFamily ? { version: '6' } : {}), address: 'fd00:6::a/64' },
    ],
    routes: [{ dst: '0.0.0.0/0', gw: '10.6.0.1' }, { dst: '10.9.0.0/16' }],
    dns: {},
  });
});

test('no routes, no key; dns as the agent says', () => {
  const dns = { nameservers: ['10.0.0.10'] };
  expect(toAddResult('1.0.0', 'net1', { ips: ALLOCATION.ips, dns })).toEqual({
    cniVersion: '1.0.0',
    ips: [{ address: '10.7.1.10/16', gateway: '10.7.0.1' }],
    dns,
  });
});

test('nothing for this interface is an error, never an empty success', () => {
  expect(() => toAddResult('1.0.0', 'net2', ALLOCATION)).toThrow(
    expect.objectContaining({ reason: 'internal', message: "the agent's answer has no address for interface net2" }),
  );
});

test('the reason becomes the code', () => {
  expect(toErrorDocument(new IpamError('bad-config', 'no', { details: 'line\nline' }), '0.4.0')).toEqual({
    cniVersion: '0.4.0',
    code: 7,
    msg: 'no',
    details: 'line\nline',
  });
});

test('no details, no key', () => {
  expect(toErrorDocument(new IpamError('internal', 'no'), '1.1.0')).toEqual({
    cniVersion: '1.1.0',
    code: 999,
    msg: 'no',
  });
});

test('both texts are bounded', () => {
  const long = 'x'.repeat(1_000_000);
  const { msg, details } = toErrorDocument(new IpamError('internal', long, { details: long }), '1.1.0');
  expect([msg.length, details?.length]).toEqual([1024, 8192]);
});
