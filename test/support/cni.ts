import { dirname } from 'node:path';
import { builtPath, launchEnvironment } from './built.ts';
import type { Netns } from './netns.ts';

const MAIN_PLUGINS_DIRECTORY = '/usr/lib/cni';

type CniVerb = 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS' | 'VERSION';

interface CniCall {
  readonly verb: CniVerb;
  /** A main plugin from Debian's directory, or our own plugin. */
  readonly plugin: 'bridge' | 'macvlan' | 'ptp' | 'loopback' | 'ipledger';
  readonly config: object;
  /** The namespace in which the plugin runs: links that a main plugin creates on "the host" are created here. */
  readonly host: Netns;
  /** Environment of the plugin, such as the paths of the agent's socket and spool. */
  readonly env: Readonly<Record<string, string>>;
  readonly containerId?: string;
  readonly netns?: string;
  readonly ifName?: string;
  /** CNI_ARGS. */
  readonly args?: string;
}

interface CniOutcome {
  readonly code: number | null;
  /** Stdout as JSON; null without output. */
  readonly result: unknown;
  readonly stderr: string;
}

/** One CNI call as a runtime makes it: a process with variables, JSON on stdin, JSON on stdout. */
export async function runCni(call: CniCall): Promise<CniOutcome> {
  const ours = await builtPath('cni/ipledger');
  const program = call.plugin === 'ipledger' ? ours : `${MAIN_PLUGINS_DIRECTORY}/${call.plugin}`;
  const env = { ...launchEnvironment(), ...call.env, ...toVariables(call, dirname(ours)) };
  const { code, stdout, stderr } = await call.host.run(program, [], { env, stdin: JSON.stringify(call.config) });
  return { code, result: parseOutput(stdout, stderr), stderr };
}

function toVariables(call: CniCall, ourDirectory: string): Record<string, string> {
  const variables = {
    CNI_COMMAND: call.verb,
    CNI_PATH: `${MAIN_PLUGINS_DIRECTORY}:${ourDirectory}`,
    CNI_CONTAINERID: call.containerId,
    CNI_NETNS: call.netns,
    CNI_IFNAME: call.ifName,
    CNI_ARGS: call.args,
  };
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function parseOutput(stdout: string, stderr: string): unknown {
  if (stdout.trim() === '') return null;
  try {
    return JSON.parse(stdout);
  } catch (cause) {
    throw new Error(`The plugin printed no JSON: ${stdout}${stderr}`, { cause });
  }
}
