import { expect, test } from 'vitest';
import { parseAttachment } from './attachment.ts';

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
