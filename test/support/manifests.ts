import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findApiBinaries } from './api-binaries.ts';
import { callApi } from './api-request.ts';
import type { ServerPlace } from './api-server.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const KINDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SERVED_TIMEOUT_MS = 30_000;

/** Applies files or folders of deploy/ the way an operator does, and waits until their kinds are served. */
export async function applyManifests(server: ServerPlace, ...paths: readonly string[]): Promise<void> {
  await kubectl(server, ['apply', ...paths.map((path) => `--filename=${join(DEPLOY, path)}`)]);
  const { body } = await callApi(server, { path: KINDS, token: server.adminToken });
  const { items } = body as {
    items: { spec: { group: string; versions: [{ name: string }]; names: { plural: string } } }[];
  };
  for (const { spec } of items) {
    await waitUntilServed(server, `/apis/${spec.group}/${spec.versions[0].name}/${spec.names.plural}`);
  }
}

/** Returns stdout; throws with stderr. */
export async function kubectl(server: ServerPlace, args: readonly string[]): Promise<string> {
  const binaries = await findApiBinaries();
  const flags = [`--kubeconfig=${server.kubeconfigFile}`, `--cache-dir=${server.dir}/kubectl`];
  const { stdout } = await promisify(execFile)(binaries.kubectl, [...flags, ...args]);
  return stdout;
}

/** 404 until the kind is established, then 429 until its cache is filled. */
export async function waitUntilServed(server: ServerPlace, path: string): Promise<void> {
  const deadline = performance.now() + SERVED_TIMEOUT_MS;
  for (;;) {
    const { status } = await callApi(server, { path, token: server.adminToken });
    if (status === 200) return;
    if (performance.now() > deadline) throw new Error(`GET ${path} still answers ${status}`);
    await sleep(50);
  }
}
