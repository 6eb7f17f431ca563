import { openTerminal } from '#ctl/node-terminal.ts';
import { runCtl } from '#ctl/run-ctl.ts';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 2));

const terminal = openTerminal(process.stdin, process.stdout, process.stderr);
process.exitCode = await runCtl(process.argv.slice(2), process.env['IPLEDGER_SOCKET'], terminal);
