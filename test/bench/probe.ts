import { benchIdleProber } from './probe-idle.ts';
import { benchProbeCrowd } from './probe-crowd.ts';
import { benchProbeGrowth } from './probe-growth.ts';
import { benchProbeLatency } from './probe-latency.ts';
import { benchProbeStorm } from './probe-storm.ts';
import { benchProbingStatus } from './probe-status.ts';

export async function benchProbe(): Promise<void> {
  await benchProbeLatency();
  await benchProbeCrowd();
  await benchProbeGrowth();
  await benchProbeStorm();
  await benchProbingStatus();
  await benchIdleProber();
}
