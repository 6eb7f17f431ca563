import { peekVersion } from '#pkg/cni/net-conf.ts';
import { type CniRequest, parseRequest, type RequestOf } from '#pkg/cni/request.ts';
import { toErrorDocument } from '#pkg/cni/result.ts';
import type { Verb } from '#pkg/cni/versions.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { add } from './add.ts';
import { type PluginCall, printingMs, readStdin, readVariable, startCall } from './call.ts';
import { check } from './check.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import type { PluginIo } from './plugin-io.ts';
import { status } from './status.ts';
import { version } from './version.ts';

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
