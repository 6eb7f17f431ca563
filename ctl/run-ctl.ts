import { CommanderError } from 'commander';
import { openAdminClient } from '#ctl/client/admin-client.ts';
import type { ExitCode, Session } from '#ctl/client/session.ts';
import { chooseSource, type Source, type Surroundings } from '#ctl/client/source.ts';
import type { Terminal } from '#ctl/client/terminal.ts';
import { toPrintable, toPrintableLines } from '#ctl/render/printable.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { buildProgram, type GlobalOptions } from './program.ts';

/** One call of `ipledgerctl`; `args` without node and script. Never throws. */
export async function runCtl(args: readonly string[], around: Surroundings, terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = buildProgram(terminal, async (work, need = 'either') => {
    const { output, ...flags } = program.opts<GlobalOptions>();
    await using sources = new AsyncDisposableStack();
    const source = await openSource(chooseSource(need, flags, around), around, sources);
    code = await work({ ...source, terminal, output });
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
    complain(terminal, thrown);
    return 2;
  }
}

/** Imported on demand: the client for the API server is large, and most calls go to the agent of the node. */
async function openSource(
  source: Source,
  { isKubernetesNode = false }: Surroundings,
  sources: AsyncDisposableStack,
): Promise<Pick<Session, 'client' | 'cluster'>> {
  if (source.from === 'socket') return { client: openAdminClient(source.path, { isKubernetesNode }) };
  const { connectCluster } = await import('#ctl/client/connect-cluster.ts');
  const { client, admin } = connectCluster(source);
  sources.use(client);
  return { client: admin, cluster: client };
}

function complain(terminal: Terminal, thrown: unknown): void {
  const { reason, message, details } = toIpamError(thrown);
  terminal.complain(`ipledgerctl: ${toPrintable(message)} (${reason})\n`);
  if (details !== '') terminal.complain(`${toPrintableLines(details)}\n`);
}
