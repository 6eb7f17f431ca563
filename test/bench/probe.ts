import { benchProbeCrowd } from './probe-crowd.ts';
import { benchProbeGrowth } from './probe-growth.ts';
import { benchProbeLatency } from './probe-latency.ts';
import { benchProbeStorm } from './probe-storm.ts';

export async function benchProbe(): Promise<void> {
  await benchProbeLatency();
  await benchProbeCrowd();
  await benchProbeGrowth();
  await benchProbeStorm();
}

if (import.meta.main) await benchProbe();
