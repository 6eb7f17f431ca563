import { expect, test } from 'vitest';
import { decodeAddResponse, decodeError, decodeGcResponse } from './decode-answers.ts';
import {
  decodeAddArgs,
  decodeBatchDelArgs,
  decodeCheckArgs,
  decodeDelArgs,
  decodeGcArgs,
  decodeSpooledDel,
  spoolFileName,
} from './decode-args.ts';

const HOLDER = { containerID: 'c1', podNamespace: 'ns', podName: 'web-0', podUID: 'u1' };
const EXTRAS = { network: 'net', timeoutMs: 29_000, warnings: ['ipam key "x" is ignored: it is not known'] };
const ADD = { ...HOLDER, ifName: 'eth0', netNamespace: '/var/run/netns/x' };
const DEL = { ...HOLDER, ifName: 'eth0' };
const ROUTE = { ifName: 'eth0', dst: '10.1.0.0/16', gw: '10.0.0.1' };
const IP = { version: 4, address: '10.6.1.10/16', nic: 'eth0', ipPool: 'pool-a' };

test.each<{ name: string; decode: (body: unknown) => unknown; body: object }>([
  { name: 'the least AddArgs', decode: decodeAddArgs, body: ADD },
  {
    name: 'the fullest AddArgs',
    decode: decodeAddArgs,
    body: {
      ...ADD,
      ...EXTRAS,
      defaultIPv4IPPool: ['a', 'b*'],
      defaultIPv6IPPool: [],
      cleanGateway: true,
      matchMasterSubnet: false,
      requestedIPs: ['10.6.1.10'],
    },
  },
  {
    name: 'AddArgs of nobody',
    decode: decodeAddArgs,
    body: { ...ADD, netNamespace: '', podNamespace: '', podName: '', podUID: '' },
  },
  { name: 'the least DelArgs', decode: decodeDelArgs, body: DEL },
  { name: 'the fullest DelArgs', decode: decodeDelArgs, body: { ...DEL, ...EXTRAS, netNamespace: '/n' } },
  { name: 'the least BatchDelArgs', decode: decodeBatchDelArgs, body: HOLDER },
  {
    name: 'the fullest BatchDelArgs',
    decode: decodeBatchDelArgs,
    body: { ...HOLDER, netNamespace: '/n', isReleaseConflictIPs: true },
  },
  { name: 'the least AddResponse', decode: decodeAddResponse, body: { ips: [IP] } },
  {
    name: 'an AddResponse of four interfaces with as many routes as pools may have',
    decode: decodeAddResponse,
    body: { ips: [IP], routes: Array.from({ length: 8 * 1_001 }, () => ROUTE) },
  },
  {
    name: 'the fullest AddResponse',
    decode: decodeAddResponse,
    body: {
      ips: [
        {
          ...IP,
          gateway: '10.6.0.1',
          vlan: 100,
          mac: '00:11:22:33:44:55',
          enableGatewayDetection: false,
          enableIPConflictDetection: true,
        },
        { version: 6, address: 'fd00::a/64', nic: 'net1', ipPool: 'six' },
      ],
      routes: [{ ifName: 'eth0', dst: '0.0.0.0/0', gw: '10.6.0.1' }],
      dns: { domain: 'a', nameservers: ['b'], search: ['c'], options: ['d'] },
    },
  },
  {
    name: 'CheckArgs',
    decode: decodeCheckArgs,
    body: { ...DEL, ips: [{ address: 'a', gateway: 'b' }, { address: 'c' }] },
  },
  {
    name: 'GcArgs',
    decode: decodeGcArgs,
    body: { network: 'n', validAttachments: [{ containerID: 'c', ifName: 'eth0' }] },
  },
  { name: 'GcResponse', decode: decodeGcResponse, body: { released: 0 } },
  { name: 'SpooledDel', decode: decodeSpooledDel, body: { version: 1, del: { ...DEL, netNamespace: '/n' } } },
])('$name comes out as it went in', ({ decode, body }) => {
  expect(decode(body)).toEqual(body);
});

test('unknown fields are left out, null lists are absent', () => {
  expect(decodeAddArgs({ ...ADD, colour: 'red', defaultIPv4IPPool: null, network: '' })).toEqual(ADD);
});

test('an address without pool and gateway is fine, as the upstream agent sends it', () => {
  expect(decodeAddResponse({ ips: [{ version: 6, address: 'a', nic: 'e', gateway: '' }], dns: null }).ips).toEqual([
    { version: 6, address: 'a', nic: 'e', ipPool: '' },
  ]);
});

test.each<{ message: string; decode: (body: unknown) => unknown; body: unknown }>([
  { decode: decodeAddArgs, body: null, message: 'the body of ADD must be an object' },
  { decode: decodeAddArgs, body: { ...ADD, containerID: undefined }, message: 'containerID is missing' },
  {
    decode: decodeAddArgs,
    body: { ...ADD, containerID: 'a'.repeat(129) },
    message: 'containerID must be a container ID',
  },
  { decode: decodeAddArgs, body: { ...ADD, ifName: 'a'.repeat(16) }, message: 'ifName must be an interface name' },
  { decode: decodeAddArgs, body: { ...ADD, ifName: 7 }, message: 'ifName must be an interface name' },
  { decode: decodeAddArgs, body: { ...ADD, netNamespace: undefined }, message: 'netNamespace is missing' },
  { decode: decodeAddArgs, body: { ...ADD, podUID: undefined }, message: 'podUID is missing' },
  { decode: decodeAddArgs, body: { ...ADD, podName: 'a\nb' }, message: 'podName must be the name of a pod' },
  { decode: decodeAddArgs, body: { ...ADD, podName: 'a/b' }, message: 'podName must be the name of a pod' },
  { decode: decodeAddArgs, body: { ...ADD, defaultIPv4IPPool: 'a' }, message: 'defaultIPv4IPPool must be a list' },
  {
    decode: decodeAddArgs,
    body: { ...ADD, defaultIPv6IPPool: new Array(1001).fill('a') },
    message: 'defaultIPv6IPPool has more than 1000 items',
  },
  {
    decode: decodeAddArgs,
    body: { ...ADD, requestedIPs: new Array(257).fill('a') },
    message: 'requestedIPs has more than 256 items',
  },
  {
    decode: decodeAddArgs,
    body: { ...ADD, timeoutMs: 0 },
    message: 'timeoutMs must be a whole number from 1 to 3600000',
  },
  { decode: decodeAddArgs, body: { ...ADD, network: '../x' }, message: 'network must be the name of a CNI network' },
  { decode: decodeDelArgs, body: { ...DEL, ifName: undefined }, message: 'ifName is missing' },
  {
    decode: decodeBatchDelArgs,
    body: { ...HOLDER, isReleaseConflictIPs: 1 },
    message: 'isReleaseConflictIPs must be true or false',
  },
  { decode: decodeAddResponse, body: {}, message: 'ips is missing' },
  { decode: decodeAddResponse, body: { ips: [{ ...IP, version: 5 }] }, message: 'ips[0].version must be 4 or 6' },
  { decode: decodeAddResponse, body: { ips: [IP, { ...IP, address: '' }] }, message: 'ips[1].address is missing' },
  { decode: decodeAddResponse, body: { ips: [{ ...IP, nic: '' }] }, message: 'ips[0].nic must be an interface name' },
  { decode: decodeAddResponse, body: { ips: new Array(257).fill(IP) }, message: 'ips has more than 256 items' },
  { decode: decodeAddResponse, body: { ips: [], routes: [{ ifName: 'e' }] }, message: 'routes[0].dst is missing' },
  { decode: decodeCheckArgs, body: DEL, message: 'ips is missing' },
  { decode: decodeGcArgs, body: { network: 'n' }, message: 'validAttachments is missing' },
  { decode: decodeGcArgs, body: { validAttachments: [] }, message: 'network is missing' },
  {
    decode: decodeGcArgs,
    body: { network: 'n', validAttachments: new Array(10_001).fill({}) },
    message: 'validAttachments has more than 10000 items',
  },
  { decode: decodeGcResponse, body: {}, message: 'released is missing' },
  { decode: decodeSpooledDel, body: { version: 2, del: DEL }, message: 'version must be 1' },
  { decode: decodeSpooledDel, body: { version: 1 }, message: 'del is missing' },
  { decode: decodeSpooledDel, body: { version: 1, del: {} }, message: 'del.containerID is missing' },
])('$message', ({ decode, body, message }) => {
  expect(() => decode(body)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
});

test.each([
  {
    name: 'our own body',
    text: '{"reason":"no-eligible-pool","message":"no pool fits","details":"pool-a: node"}',
    error: { reason: 'no-eligible-pool', message: 'no pool fits', details: 'pool-a: node' },
  },
  {
    name: 'a reason of a newer agent',
    text: '{"reason":"moon-phase","message":"not today","details":""}',
    error: { reason: 'internal', message: 'not today', details: '' },
  },
  {
    name: 'an inherited word',
    text: '{"reason":"toString"}',
    error: { reason: 'internal', message: 'the agent answered with status 500' },
  },
  {
    name: "Spiderpool's string",
    text: '"no IPPool available"',
    error: { reason: 'internal', message: 'no IPPool available' },
  },
  { name: 'nothing', text: '', error: { reason: 'internal', message: 'the agent answered with status 500' } },
  { name: 'HTML', text: '<html>', error: { reason: 'internal', message: 'the agent answered with status 500' } },
  { name: 'wrong types', text: '{"reason":1,"message":[],"details":{}}', error: { reason: 'internal', details: '' } },
])('$name', ({ text, error }) => {
  expect(decodeError(500, text)).toMatchObject(error);
});

test('long texts are clipped, not refused', () => {
  const long = 'x'.repeat(100_000);
  const error = decodeError(500, JSON.stringify({ reason: 'internal', message: long, details: long }));
  expect([error.message.length, error.details.length]).toEqual([1024, 8192]);
});

test.each([
  { ifName: 'eth0', name: 'c1@eth0.json' },
  { ifName: 'vlan.10-a_b', name: 'c1@vlan.10-a_b.json' },
  { ifName: 'a@b%c', name: 'c1@a%40b%25c.json' },
  { ifName: "!'()*~", name: 'c1@%21%27%28%29%2A%7E.json' },
  { ifName: 'é\\', name: 'c1@%C3%A9%5C.json' },
])('the DEL of $ifName is spooled as $name', ({ ifName, name }) => {
  expect(spoolFileName({ containerID: 'c1', ifName })).toBe(name);
});
