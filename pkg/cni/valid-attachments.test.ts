import { expect, test } from 'vitest';
import { JsonFields } from './untrusted-input.ts';
import { decodeValidAttachments } from './valid-attachments.ts';

const KEY = 'cni.dev/valid-attachments';
const decode = (conf: object) => decodeValidAttachments(new JsonFields({ ...conf }, '', 'bad-config'));

test.each([KEY, 'cni.dev/attachments'])('%s lists what is still attached', (key) => {
  expect(decode({ [key]: [{ containerID: 'c1', ifname: 'eth0' }] })).toEqual([{ containerID: 'c1', ifName: 'eth0' }]);
});

test('an empty list is a list', () => {
  expect(decode({ [KEY]: [] })).toEqual([]);
});

test.each([
  { conf: {}, message: `${KEY} is missing in the network configuration` },
  { conf: { [KEY]: null }, message: `${KEY} is missing in the network configuration` },
  { conf: { [KEY]: {} }, message: `${KEY} must be a list` },
  { conf: { [KEY]: [{ ifname: 'eth0' }] }, message: `${KEY}[0].containerID is missing` },
  { conf: { [KEY]: [{ containerID: 'c', ifname: 'a/b' }] }, message: `${KEY}[0].ifname must be an interface name` },
  { conf: { [KEY]: new Array(10_001).fill({}) }, message: `${KEY} has more than 10000 items` },
])('$message', ({ conf, message }) => {
  expect(() => decode(conf)).toThrow(expect.objectContaining({ reason: 'bad-config', message }));
});
