import { expect, test } from 'vitest';
import { JsonFields } from './json-fields.ts';
import { decodeRequestedIps } from './requested-ips.ts';

const decode = (conf: object, args: readonly string[] = []) =>
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
  expect(decode(conf, args)).toEqual(ips);
});

test.each([
  { conf: { runtimeConfig: { ips: [1] } }, message: 'runtimeConfig.ips[0] must be a string' },
  { conf: { runtimeConfig: [] }, message: 'runtimeConfig must be an object' },
  { conf: { args: { cni: { ips: {} } } }, message: 'args.cni.ips must be a list' },
  { conf: { runtimeConfig: { ips: ['x'.repeat(65)] } }, message: 'runtimeConfig.ips[0] is longer than 64 characters' },
  { conf: { runtimeConfig: { ips: [...'123456789'] } }, message: '9 addresses are asked for, at most 8 can be' },
])('$message', ({ conf, message }) => {
  expect(() => decode(conf)).toThrow(expect.objectContaining({ reason: 'bad-config', message }));
});

test('an overlong address in CNI_ARGS is a fault of the environment', () => {
  expect(() => decode({}, ['1'.repeat(65)])).toThrow(expect.objectContaining({ reason: 'bad-environment' }));
});
