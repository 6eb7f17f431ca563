import { exit, hostIo } from '#plugin/host-io.ts';
import { run } from '#plugin/run.ts';

exit(await run(hostIo));
