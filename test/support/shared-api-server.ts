import { beforeAll, inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { callApi } from './api-request.ts';
import { type RunningServer, reachServer, type ServerPlace, startApiServer } from './api-server.ts';
import { applyManifests } from './manifests.ts';

declare module 'vitest' {
  interface ProvidedContext {
    apiServer: ServerPlace;
  }
}

/** Called by vitest before the first file of the project: one server with all of deploy/ for all files that can share it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startApiServer();
  await applyManifests(server, 'crds', 'admission-policy.yaml', 'rbac.yaml');
  const { url, caFile, adminToken, kubeconfigFile, dir } = server;
  project.provide('apiServer', { url, caFile, adminToken, kubeconfigFile, dir });
  return async () => server[Symbol.asyncDispose]();
}

const KINDS = [
  '/apis/ipledger.io/v1alpha1/iprecords',
  ...['spiderippools', 'spidersubnets', 'spiderreservedips', 'namespaces/default/spiderendpoints'].map(
    (kind) => `/apis/spiderpool.spidernet.io/v2beta1/${kind}`,
  ),
];

/** For the top of a file; the server has no object of our kinds. A test that pauses, kills or misconfigures a server starts its own. */
export function useSharedServer(): RunningServer {
  const server = reachServer(inject('apiServer'));
  beforeAll(async () => {
    for (const path of KINDS) {
      const { status } = await callApi(server, { method: 'DELETE', path, token: server.adminToken });
      if (status !== 200) throw new Error(`DELETE ${path}: ${status}`);
    }
  });
  return server;
}
