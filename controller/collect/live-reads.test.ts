import { expect, test } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { LiveReads } from './live-reads.ts';

test('a list of all pods that fails does not stop anybody: each pod is read by itself', async () => {
  await using pair = await startScripted(({ path, answer }) => {
    const name = path.split('/').at(-1) ?? '';
    if (path === '/api/v1/pods') answer(500, statusBody(500, 'InternalError'));
    else answer(404, statusBody(404, 'NotFound', { name, kind: 'pods' }));
  });
  const reads = new LiveReads(pair.client, 25_000, () => performance.now(), new AbortController().signal);
  for (let at = 0; at < 120; at += 1) expect(await reads.pod('prod', `web-${at}`, 0)).toBeNull();
  expect(pair.server.requests.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(1);
});

test('one list of a namespace serves all of its machines', async () => {
  const launcher = (vmi: string) => ({
    metadata: {
      namespace: 'prod',
      name: `virt-launcher-${vmi}`,
      uid: vmi,
      resourceVersion: '1',
      ownerReferences: [
        { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: vmi, uid: `u-${vmi}`, controller: true },
      ],
    },
    spec: { nodeName: 'n1', containers: [] },
    status: { phase: 'Running' },
  });
  await using pair = await startScripted(({ answer }) =>
    answer(200, { kind: 'PodList', metadata: { resourceVersion: '9' }, items: [launcher('vm-1'), launcher('vm-3')] }),
  );
  let nowMs = 1_000;
  const reads = new LiveReads(pair.client, 25_000, () => nowMs, new AbortController().signal);
  const found: number[] = [];
  for (let at = 0; at < 200; at += 1) {
    nowMs += 100;
    found.push((await reads.launchers('prod', `vm-${at}`, 500)).length);
  }
  expect(found.flatMap((count, at) => (count > 0 ? [at] : []))).toEqual([1, 3]);
  expect(pair.server.requests.map(({ path }) => path)).toEqual(['/api/v1/namespaces/prod/pods']);
  // The record was seen after the list: something may have started since.
  await reads.launchers('prod', 'vm-1', nowMs);
  expect(pair.server.requests).toHaveLength(2);
});
