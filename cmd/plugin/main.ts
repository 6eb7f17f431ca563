import { nodeIo } from '#plugin/node/node-io.ts';
import { run } from '#plugin/run.ts';

run(nodeIo(process.env, process.stdin)).then(
  (code) => process.exit(code),
  () => process.exit(1),
);
