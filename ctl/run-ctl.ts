import { CommanderError } from 'commander';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { openAdminClient } from './admin-client.ts';
import { toPrintable, toPrintableLines } from './printable.ts';
import { buildProgram, type GlobalOptions } from './program.ts';
import type { ExitCode } from './session.ts';
import type { Terminal } from './terminal.ts';

const DEFAULT_SOCKET = '/var/run/spidernet/spiderpool.sock';

/** One call of `ipledgerctl`; `args` without node and script. Never throws. */
export async function runCtl(
  args: readonly string[],
  socketPath: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = buildProgram(socketPath || DEFAULT_SOCKET, terminal, async (work) => {
    const { socket, output } = program.opts<GlobalOptions>();
    code = await work({ client: openAdminClient(socket), terminal, output });
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

function complain(terminal: Terminal, thrown: unknown): void {
  const { reason, message, details } = toIpamError(thrown);
  terminal.complain(`ipledgerctl: ${toPrintable(message)} (${reason})\n`);
  if (details !== '') terminal.complain(`${toPrintableLines(details)}\n`);
}
