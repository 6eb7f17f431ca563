import { decodeAddResponse, decodeGcResponse } from '#pkg/agentapi/decode-answers.ts';
import { spoolFileName } from '#pkg/agentapi/decode-args.ts';
import { type AddArgs, type CheckArgs, type DelArgs, type GcArgs, PATHS, type SpooledDel } from '#pkg/agentapi/wire.ts';
import { peekVersion } from '#pkg/cni/net-conf.ts';
import {
  type AddRequest,
  type CheckRequest,
  type CniRequest,
  type DelRequest,
  type GcRequest,
  parseRequest,
  type RequestOf,
  type StatusRequest,
  type VersionRequest,
} from '#pkg/cni/request.ts';
import { type AddResult, SUPPORTED_VERSIONS, toAddResult, toErrorDocument, type Verb } from '#pkg/cni/result.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { askAgent, decodeAnswerBody, isUnserved } from './agent-client.ts';
import { type PluginCall, printingMs, readStdin, readVariable, spoolDirectory, startCall } from './call.ts';
import type { PluginIo, SpoolOutcome } from './plugin-io.ts';

const VERBS: { readonly [V in Verb]: (request: RequestOf<V>, call: PluginCall) => Promise<object | null> } = {
  ADD: add,
  DEL: del,
  CHECK: check,
  GC: gc,
  STATUS: status,
  VERSION: version,
};

/** One CNI call: at most one JSON document on stdout, and the exit code. */
export async function run(io: PluginIo): Promise<0 | 1> {
  const env = (name: string) => readVariable(io, name);
  const call = startCall(io);
  let stdin = '';
  try {
    // A person at a shell sets no command, and writes nothing to stdin that could end.
    if (env('CNI_COMMAND')) stdin = await readStdin(call);
    const output = await serve(parseRequest(env, stdin), call);
    return output === null || print(call, output) ? 0 : 1;
  } catch (thrown) {
    print(call, toErrorDocument(toIpamError(thrown), peekVersion(stdin)));
    return 1;
  }
}

/** The table's own type says that the verb and its request belong together; TypeScript cannot follow it through an index. */
function serve(request: CniRequest, call: PluginCall): Promise<object | null> {
  const verb = VERBS[request.verb] as (request: CniRequest, call: PluginCall) => Promise<object | null>;
  return verb(request, call);
}

function print(call: PluginCall, document: object): boolean {
  return call.io.writeStdout(`${JSON.stringify(document)}\n`, printingMs(call));
}

/** An ADD whose answer was lost is not sent again: the runtime follows with DEL and tries anew. */
async function add(request: AddRequest, call: PluginCall): Promise<AddResult> {
  const answer = await askAgent(call, { method: 'POST', path: PATHS.ip, args: toAddArgs(request), isWrite: true });
  return toAddResult(request.cniVersion, request.ifName, decodeAnswerBody(answer, decodeAddResponse));
}

function toAddArgs(request: AddRequest): AddArgs {
  const { pod, ipam, requestedIPs } = request;
  return {
    containerID: request.containerID,
    ifName: request.ifName,
    netNamespace: request.netns,
    podNamespace: pod.namespace,
    podName: pod.name,
    podUID: pod.uid,
    ...(ipam.ipv4Pools.length > 0 ? { defaultIPv4IPPool: ipam.ipv4Pools } : {}),
    ...(ipam.ipv6Pools.length > 0 ? { defaultIPv6IPPool: ipam.ipv6Pools } : {}),
    cleanGateway: ipam.cleanGateway,
    matchMasterSubnet: ipam.matchMasterSubnet,
    ...(requestedIPs.length > 0 ? { requestedIPs } : {}),
    network: request.network,
    ...(ipam.warnings.length > 0 ? { warnings: ipam.warnings } : {}),
  };
}

async function check(request: CheckRequest, call: PluginCall): Promise<null> {
  const { containerID, ifName, netns, pod, network, addresses } = request;
  const args: CheckArgs = {
    containerID,
    ifName,
    podNamespace: pod.namespace,
    podName: pod.name,
    podUID: pod.uid,
    netNamespace: netns,
    ips: addresses,
    ...(network === undefined ? {} : { network }),
  };
  await askAgent(call, { method: 'POST', path: PATHS.check, args, isWrite: false });
  return null;
}

const MAX_SPOOL_FILES = 10_000;

/** Succeeds without an agent too: the spool keeps the DEL, so that no pod hangs in Terminating and no address is lost. */
async function del(request: DelRequest, call: PluginCall): Promise<null> {
  const directory = spoolDirectory(call.io);
  const args = toDelArgs(request);
  try {
    await askAgent(call, { method: 'DELETE', path: PATHS.ip, args, isWrite: true });
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

async function gc({ network, validAttachments }: GcRequest, call: PluginCall): Promise<null> {
  const args: GcArgs = { network, validAttachments };
  const answer = await askAgent(call, { method: 'POST', path: PATHS.gc, args, isWrite: true });
  decodeAnswerBody(answer, decodeGcResponse);
  return null;
}

/** CNI's code 50 ("cannot serve ADD now") is for an agent that is away as well as for one that says so itself. */
async function status(_request: StatusRequest, call: PluginCall): Promise<null> {
  try {
    await askAgent(call, { method: 'GET', path: PATHS.status, args: null, isWrite: false });
    return null;
  } catch (thrown) {
    const error = toIpamError(thrown);
    if (!isUnserved(error)) throw error;
    throw new IpamError('not-ready', error.message, { details: error.details, cause: error });
  }
}

async function version(request: VersionRequest): Promise<object> {
  return { cniVersion: request.cniVersion, supportedVersions: SUPPORTED_VERSIONS };
}
