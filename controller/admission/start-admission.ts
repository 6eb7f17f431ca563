import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { admissionHandlers } from './handlers.ts';
import { identityFromFiles } from './identity-from-files.ts';
import type { IdentitySource } from './identity-source.ts';
import { clusterWorld } from './network-world.ts';
import { Reservations } from './reservations.ts';
import { selfMadeIdentity } from './self-made-identity.ts';
import { type AdmissionServer, startAdmissionServer } from './server.ts';

export interface AdmissionSettings {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  readonly enableSpiderSubnet: boolean;
  readonly enableValidatingResourcesDeletedWebhook: boolean;
  /** 5722 unless configured. */
  readonly port: number;
  readonly host?: string;
  /** File with the CA of the API server's client certificate; empty: clients are not authenticated. */
  readonly clientCaFile: string;
  readonly tls:
    | {
        readonly from: 'self';
        readonly namespace: string;
        readonly names: readonly string[];
        readonly checkEveryMs?: number;
      }
    | { readonly from: 'files'; readonly certFile: string; readonly keyFile: string; readonly checkEveryMs?: number };
}

export interface AdmissionContext {
  readonly client: KubeClient;
  readonly ledger: Pick<Ledger, 'takenOf' | 'get'>;
  readonly log: Logger;
  readonly now: () => Date;
}

/** The webhook of this replica. Every replica serves, leader or not. */
export async function startAdmission(
  { client, ledger, log, now }: AdmissionContext,
  settings: AdmissionSettings,
): Promise<Pick<AdmissionServer, 'port'> & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const source = stack.use(await identitySource({ client, log, now }, settings.tls));
  const handlers = admissionHandlers({
    ...settings,
    ledger,
    world: clusterWorld(client),
    reservations: new Reservations(
      () => client.timing.nowMs(),
      (ms) => sleep(client.timing, ms),
    ),
  });
  const { port, host, clientCaFile } = settings;
  const clientCa = clientCaFile === '' ? undefined : await readFile(clientCaFile, 'utf8');
  const at = { port, ...(host === undefined ? {} : { host }) };
  const server = stack.use(await startAdmissionServer({ handlers, identity: source.current(), clientCa, log, ...at }));
  stack.use(source.onChange((identity) => server.present(identity)));
  const everything = stack.move();
  return { port: server.port, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

function identitySource(
  { client, log, now }: Omit<AdmissionContext, 'ledger'>,
  tls: AdmissionSettings['tls'],
): Promise<IdentitySource> {
  return tls.from === 'files' ? identityFromFiles({ ...tls, log }) : selfMadeIdentity({ ...tls, client, log, now });
}
