import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findApiBinaries } from '#test/support/api-binaries.ts';
import type { ApiServer } from '#test/support/api-server.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');

/** Applies files or folders of deploy/ the way an operator does, and waits until their kinds are served. */
export async function applyManifests(server: ApiServer, ...paths: readonly string[]): Promise<void> {
  await kubectl(server, ['apply', ...paths.map((path) => `--filename=${join(DEPLOY, path)}`)]);
  await kubectl(server, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
}

/** What it prints. Fails with what it complained about. */
export async function kubectl(server: ApiServer, args: readonly string[]): Promise<string> {
  const binaries = await findApiBinaries();
  const flags = [`--kubeconfig=${server.kubeconfigFile}`, `--cache-dir=${server.dir}/kubectl`];
  const { stdout } = await promisify(execFile)(binaries.kubectl, [...flags, ...args]);
  return stdout;
}
