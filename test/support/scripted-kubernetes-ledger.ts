import { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type KubernetesLedgerOptions, openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { type Script, ScriptedServer } from './scripted-server.ts';

export interface ScriptedLedger extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly server: ScriptedServer;
}

type Reply = readonly [status: number, body: unknown];

/** For tests: a ledger whose API server answers by script, also with wrong answers. */
export async function openScriptedLedger(
  script: Script,
  options: KubernetesLedgerOptions = {},
): Promise<ScriptedLedger> {
  const server = await ScriptedServer.start(script);
  const client = new KubeClient(async () => server.access(), { userAgent: 'test' });
  const ledger = openKubernetesLedger(client, { timeoutMs: 4_000, attemptTimeoutMs: 1_500, ...options });
  return {
    ledger,
    server,
    [Symbol.asyncDispose]: async () => {
      await ledger.close();
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Replies by method, one after the other; the last one repeats. */
export function openLedgerOn(replies: Readonly<Record<string, readonly Reply[]>>): Promise<ScriptedLedger> {
  const turns = new Map<string, number>();
  return openScriptedLedger(({ method, answer }) => {
    const turn = turns.get(method) ?? 0;
    turns.set(method, turn + 1);
    const [status, body] = replies[method]?.at(turn) ?? replies[method]?.at(-1) ?? [500, ''];
    answer(status, body);
  });
}

/** A record of the port, and the object that it is decoded from. */
export function storedAs(spec: RecordSpec): { readonly object: KubeObject; readonly record: IpRecord } {
  const { metadata, ...rest } = toNewObject(spec);
  const [uid, resourceVersion, createdAt] = ['u1', '7', '2026-11-16T10:00:00Z'];
  const { name } = metadata;
  const object = { ...rest, metadata: { ...metadata, uid, resourceVersion, creationTimestamp: createdAt } };
  return { object, record: { name, uid, resourceVersion, createdAt, spec } };
}
