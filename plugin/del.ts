import { spoolFileName } from '#pkg/agentapi/decode-args.ts';
import { type DelArgs, PATHS, type SpooledDel } from '#pkg/agentapi/wire.ts';
import type { DelRequest } from '#pkg/cni/request.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { askAgent, isUnserved } from './agent-client.ts';
import { type PluginCall, spoolDirectory } from './call.ts';
import type { PluginIo, SpoolOutcome } from './plugin-io.ts';

const MAX_SPOOL_FILES = 10_000;

/** Succeeds without an agent too: the spool keeps the DEL, so that no pod hangs in Terminating and no address is lost. */
export async function del(request: DelRequest, call: PluginCall): Promise<null> {
  const directory = spoolDirectory(call.io);
  const args = toDelArgs(request);
  try {
    await askAgent(call, { method: 'DELETE', path: PATHS.ip, args });
  } catch (thrown) {
    const error = toIpamError(thrown);
    if (!isUnserved(error)) throw error;
    await spoolDel(call.io, directory, args, error);
  }
  return null;
}

async function spoolDel(io: PluginIo, directory: string, args: DelArgs, away: IpamError): Promise<void> {
  const content: SpooledDel = { version: 1, del: args };
  const outcome = await io.spool(directory, spoolFileName(args), `${JSON.stringify(content)}\n`, MAX_SPOOL_FILES);
  if (outcome.kind === 'written' || outcome.kind === 'exists') return;
  throw new IpamError('io-failure', `${away.message}, and the DEL cannot be spooled: ${complaint(outcome)}`, {
    details: [`Spool directory: ${directory}`, away.details].filter((line) => line !== '').join('\n'),
  });
}

function complaint(outcome: Extract<SpoolOutcome, { kind: 'full' | 'failed' }>): string {
  return outcome.kind === 'full' ? `the spool is full with ${outcome.files} files` : outcome.why;
}

function toDelArgs({ containerID, ifName, netns, pod, network }: DelRequest): DelArgs {
  return {
    containerID,
    ifName,
    podNamespace: pod.namespace,
    podName: pod.name,
    podUID: pod.uid,
    ...(netns === '' ? {} : { netNamespace: netns }),
    ...(network === undefined ? {} : { network }),
  };
}
