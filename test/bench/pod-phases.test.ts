import { expect, test } from 'vitest';
import { type PodTimes, phaseLine, toPodTimes } from './pod-phases.ts';

test.each([
  {
    name: 'each phase was seen',
    marks: { createdAtMs: 100, scheduledAtMs: 150, networkAtMs: 400, runningAtMs: 900 },
    times: { runningMs: 800, networkMs: 250 },
  },
  {
    name: 'the network was never reported as ready',
    marks: { createdAtMs: 100, scheduledAtMs: 150, runningAtMs: 900 },
    times: { runningMs: 800, networkMs: null },
  },
  {
    name: 'the node was never seen',
    marks: { createdAtMs: 100, networkAtMs: 400, runningAtMs: 900 },
    times: { runningMs: 800, networkMs: null },
  },
  {
    name: 'the pod never ran',
    marks: { createdAtMs: 100, scheduledAtMs: 150, networkAtMs: 400 },
    times: { runningMs: null, networkMs: 250 },
  },
])('times of a pod: $name', ({ marks, times }) => {
  expect(toPodTimes(marks)).toEqual(times);
});

const burst = (...networkMs: (number | null)[]): PodTimes[] =>
  networkMs.map((it) => ({ runningMs: 1_000, networkMs: it }));

test('a phase that was not seen for a pod is told, and leaves the quantile alone', () => {
  const bursts = { own: [burst(200, null, 200)], base: [burst(100, 100, 100)] };
  expect(phaseLine('ipledger', 'networkMs', 0.5, bursts)).toEqual({
    what: 'ipledger, PodScheduled → PodReadyToStartContainers, p50',
    value: '200.00 ms ± 0 %; MISSING for 1 of 3 pods',
    against: '2.000 of host-local',
  });
});

test('a phase that was seen for no pod of a burst has no figure', () => {
  const bursts = { own: [burst(null, null)], base: [burst(100, 100)] };
  const limit = { mostRatio: 1.05, extraMs: 0 };
  expect(phaseLine('ipledger', 'networkMs', 0.5, bursts, limit)).toEqual({
    what: 'ipledger, PodScheduled → PodReadyToStartContainers, p50',
    value: 'not seen; MISSING for 2 of 2 pods',
  });
});

test.each([
  { name: 'within the limit', own: 205, extraMs: 100, against: '1.050 of host-local, less 100 ms', isMet: true },
  { name: 'beyond the limit', own: 206, extraMs: 100, against: '1.060 of host-local, less 100 ms', isMet: false },
  { name: 'without an extra', own: 106, extraMs: 0, against: '1.060 of host-local', isMet: false },
])('the limit is a ratio after what the subject may take longer: $name', ({ own, extraMs, against, isMet }) => {
  const bursts = { own: [burst(own)], base: [burst(100)] };
  const line = phaseLine('probing', 'networkMs', 0.5, bursts, { mostRatio: 1.05, extraMs });
  expect(line).toMatchObject({ against, isMet, limit: 'at most 1.05' });
});
