import { existsSync } from 'node:fs';
import { openTerminal } from '#ctl/client/node-terminal.ts';
import { runCtl } from '#ctl/run-ctl.ts';
import { DEFAULT_SOCKET } from '#pkg/agentapi/paths.ts';

// A reader that closes the pipe early (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 2));

const terminal = openTerminal(process.stdin, process.stdout, process.stderr);
const around = {
  socket: process.env['IPLEDGER_SOCKET'],
  kubeconfig: process.env['KUBECONFIG'],
  isInCluster: process.env['KUBERNETES_SERVICE_HOST'] !== undefined,
  hasDefaultSocket: existsSync(DEFAULT_SOCKET),
  isKubernetesNode: existsSync('/var/lib/kubelet'),
};
process.exitCode = await runCtl(process.argv.slice(2), around, terminal);
