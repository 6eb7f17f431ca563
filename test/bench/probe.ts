import { benchProbeCrowd } from './probe-crowd.ts';
import { benchProbeGrowth } from './probe-growth.ts';
import { benchIdleProber } from './probe-idle.ts';
import { benchProbeLatency } from './probe-latency.ts';
import { benchProbingStatus } from './probe-status.ts';
import { benchProbeStorm } from './probe-storm.ts';

export async function benchProbe(): Promise<void> {
  await benchProbeLatency();
  await benchProbeCrowd();
  await benchProbeGrowth();
  await benchProbeStorm();
  await benchProbingStatus();
  await benchIdleProber();
}
