import { expect, test } from 'vitest';
import { decodeClusterConfig } from '#pkg/config/decode-cluster-config.ts';
import { planOptionsOf, probeSettingsOf } from './agent-settings.ts';

const read = (value: object) => decodeClusterConfig(value).config;

test('probing follows conf.yml', () => {
  const written = { enableIPConflictDetection: true, probeWindowMs: 250, probeCount: 5, quarantineSeconds: 60 };
  expect(probeSettingsOf(read({ ...written, onIPConflict: 'block' }))).toEqual({
    detectConflict: true,
    detectGateway: false,
    windowMs: 250,
    count: 5,
    quarantineMs: 60_000,
    onConflict: 'block',
  });
});

test('families, subnets and namespace follow conf.yml', () => {
  const options = (value: object) => planOptionsOf(read(value), { multusNamespace: 'ipledger' });
  expect(options({ enableIPv6: false })).toEqual({
    enableIPv4: true,
    enableIPv6: false,
    enableSubnets: true,
    enableAutoPools: true,
    multusNamespace: 'ipledger',
  });
  expect(options({ enableSpiderSubnet: false }).enableSubnets).toBe(false);
  expect(options({ enableAutoPoolForApplication: false })).toMatchObject({
    enableSubnets: true,
    enableAutoPools: false,
  });
});
