import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type PluginCall, remainingMs } from './call.ts';

const LIMIT_BYTES = 1024 * 1024;

export async function readStdin(call: PluginCall): Promise<string> {
  const outcome = await call.io.readStdin(LIMIT_BYTES, remainingMs(call));
  switch (outcome.kind) {
    case 'text':
      return outcome.text;
    case 'oversized':
      throw new IpamError('bad-input', `the network configuration on stdin is larger than ${LIMIT_BYTES} bytes`);
    case 'not-utf8':
      throw new IpamError('bad-input', 'the network configuration on stdin is not UTF-8');
    case 'timeout':
      throw new IpamError('io-failure', `stdin did not end within ${call.budget.totalMs / 1000} s`);
    case 'failed':
      throw new IpamError('io-failure', 'stdin cannot be read', { details: outcome.why });
  }
}
