import { benchProbeGrowth } from './probe-growth.ts';
await benchProbeGrowth();
