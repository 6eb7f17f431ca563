import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delegateCalls } from './delegate-calls.ts';

/** A main plugin that does what Multus does: it calls one plugin after the other, for one interface each. */
const { env } = process;
const config = JSON.parse(readFileSync(0, 'utf8'));

try {
  const results = delegateCalls(env['CNI_COMMAND'] ?? '', config, env).map(({ program, input, env: extra }) => {
    const output = execFileSync(program, { input: JSON.stringify(input), env: { ...env, ...extra } });
    return output.toString();
  });
  // Only the first network counts for the runtime.
  process.stdout.write(results[0] ?? '');
} catch (thrown) {
  // A plugin reports its error on stdout.
  process.stdout.write(String((thrown as { stdout?: Buffer }).stdout ?? thrown));
  process.exitCode = 1;
}
