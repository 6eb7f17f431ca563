import type { AgentProcess } from './agent-process.ts';
import { builtPath, launchEnvironment } from './built.ts';
import { runProgram } from './run-program.ts';

export interface PluginAnswer {
  readonly code: number | null;
  readonly document: PluginDocument | null;
}

interface PluginDocument {
  readonly ips?: readonly { readonly address: string; readonly gateway?: string }[];
  readonly code?: number;
  readonly msg?: string;
  readonly details?: string;
}

const NETWORK = { cniVersion: '1.1.0', name: 'lab', type: 'test', ipam: { type: 'ipledger' } };

export interface PluginCall {
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** The path of the plugin; dist/ by default. */
  readonly program?: string;
}

/** Runs our plugin as a runtime does, without a main plugin. */
export async function callPlugin(
  agent: Pick<AgentProcess, 'env'>,
  verb: 'ADD' | 'DEL' | 'CHECK' | 'GC' | 'STATUS',
  containerID: string,
  more: PluginCall = {},
): Promise<PluginAnswer> {
  const env = {
    ...launchEnvironment(),
    ...agent.env,
    CNI_COMMAND: verb,
    CNI_CONTAINERID: containerID,
    CNI_NETNS: '/proc/self/ns/net',
    CNI_IFNAME: 'eth0',
    ...more.env,
  };
  const program = more.program ?? (await builtPath('cni/ipledger'));
  const { code, stdout } = await runProgram(program, [], { env, stdin: JSON.stringify(more.config ?? NETWORK) });
  return { code, document: stdout === '' ? null : (JSON.parse(stdout) as PluginDocument) };
}

export function addressesIn({ document }: PluginAnswer): string[] {
  return document?.ips?.map((ip) => ip.address) ?? [];
}

/** Runs `work` on all items with bounded concurrency. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
