import { nodeIo } from '#plugin/node/node-io.ts';
import { run } from '#plugin/run.ts';

run(nodeIo(process.env, process.stdin)).then(process.exit, () => process.exit(1));
