import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ScriptedApi, until } from '#test/support/scripted-api.ts';
import { NodeLabels } from './node-labels.ts';

const silent = pino({ level: 'silent' });
const object = (name: string, resourceVersion: number, labels: object = {}) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion), labels },
});

test('the labels of this node alone are watched; without the node there are none to go by', async () => {
  await using api = await ScriptedApi.start();
  await using node = new NodeLabels(api.client, 'worker-1', silent);
  await node.synced;
  await until(() => api.isWatched('nodes'));
  expect(api.query('watch', 'nodes')).toMatchObject({
    fieldSelector: 'metadata.name=worker-1',
    accept: expect.stringContaining('as=PartialObjectMetadata'),
  });
  expect(() => node.current()).toThrow('the Node worker-1 is not known to the API server, or not yet read');
  api.tell('nodes', ['ADDED', object('worker-1', 11, { zone: 'a' })]);
  await expect.poll(() => labelsOf(node), { timeout: 60_000 }).toEqual({ zone: 'a' });
  api.tell('nodes', ['MODIFIED', object('worker-1', 12, { zone: 'b' })]);
  await expect.poll(() => labelsOf(node), { timeout: 60_000 }).toEqual({ zone: 'b' });
  api.tell('nodes', ['DELETED', object('worker-1', 13)]);
  await expect.poll(() => labelsOf(node), { timeout: 60_000 }).toBeNull();
});

function labelsOf(node: NodeLabels): unknown {
  try {
    return node.current();
  } catch {
    return null;
  }
}
