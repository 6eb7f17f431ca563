import { test } from 'vitest';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPod, buildPodRecord, NOW_MS, STATEFUL_SET, WALL_MS } from '#test/support/build-evidence.ts';
import { checkVerdict, type JudgeCase, retain, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

/** Adopted, restored or repaired: no DEL during its pod's grace frees it, so its end is the controller's alone. */
function withoutContainer({ spec, ...record }: IpRecord): IpRecord {
  const { containerID: _c, netns: _n, network: _w, ...holder } = spec.holder;
  return { ...record, spec: { ...spec, holder } };
}

const record = withoutContainer(buildPodRecord());
const sticky = withoutContainer(buildPodRecord({ owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' } }));
const ending = buildPod({ deletesAtMs: WALL_MS + 20_000 });
const endingOfSet = { ...ending, controller: STATEFUL_SET };

test.each<JudgeCase>([
  {
    name: 'its pod has its grace: kept',
    record,
    evidence: { pod: ending },
    verdict: keep('within-grace', 20_000),
  },
  {
    name: 'its pod is gone just now: after a minute',
    record,
    evidence: { goneSinceMs: NOW_MS },
    verdict: keep('settling', 60_000),
  },
  {
    name: 'its pod is gone for 60 s: suspect, as nobody has seen its namespace',
    record,
    evidence: { goneSinceMs: secondsAgo(60) },
    verdict: suspect('pod-gone'),
  },
  {
    name: 'its StatefulSet pod has its grace: kept',
    record: sticky,
    evidence: { pod: endingOfSet, owner: 'valid' },
    verdict: keep('sticky-pod-there'),
  },
  {
    name: 'its StatefulSet pod is gone just now: retained, in doubt',
    record: sticky,
    evidence: { owner: 'valid', goneSinceMs: NOW_MS },
    verdict: retain('in-doubt'),
  },
  {
    name: 'its StatefulSet is gone too: suspect',
    record: sticky,
    evidence: { owner: 'invalid', goneSinceMs: secondsAgo(60), ownerAbsentSinceMs: secondsAgo(60) },
    verdict: suspect('pod-gone'),
  },
])('a record without a container: $name', checkVerdict);
