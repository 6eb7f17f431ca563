import { expect, test } from 'vitest';
import { VERSION } from '#pkg/text/version.ts';
import { readRootFile } from './source-files.ts';

const lock: { packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }> } = JSON.parse(
  readRootFile('package-lock.json'),
);
const installed = Object.entries(lock.packages).filter(([path]) => path !== '');

test('the lockfile names no registry, so it installs from any', () => {
  expect(installed.length).toBeGreaterThan(50);
  expect(installed.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([]);
});

test('every package is pinned by its hash', () => {
  expect(installed.filter(([, entry]) => entry.integrity === undefined).map(([path]) => path)).toEqual([]);
});

test('the programs answer --version with the version of the package', () => {
  expect(VERSION).toBe(JSON.parse(readRootFile('package.json')).version);
  expect(lock.packages['']).toMatchObject({ version: VERSION });
});
