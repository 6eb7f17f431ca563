import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ScriptedApi, until } from '#test/support/scripted-api.ts';
import { AdoptionWatch } from './adoption-marker.ts';

const silent = pino({ level: 'silent' });
const MARKER = { metadata: { name: 'ipledger-adopted', namespace: 'ipledger', uid: 'u', resourceVersion: '11' } };

test('it waits for the ConfigMap of that name, and then stops watching', async () => {
  await using api = await ScriptedApi.start();
  await using marker = new AdoptionWatch(api.client, 'ipledger', silent);
  await until(() => api.isWatched('configmaps'));
  expect(api.query('watch', 'configmaps')).toMatchObject({
    path: '/api/v1/namespaces/ipledger/configmaps',
    fieldSelector: 'metadata.name=ipledger-adopted',
  });
  expect(marker.isAdopted).toBe(false);
  api.tell('configmaps', ['ADDED', MARKER]);
  await marker.adopted;
  expect(marker.isAdopted).toBe(true);
  await until(() => !api.isWatched('configmaps'));
});

test('one that is there already is enough', async () => {
  await using api = await ScriptedApi.start();
  api.has('configmaps', 20, MARKER);
  await using marker = new AdoptionWatch(api.client, 'ipledger', silent);
  await marker.adopted;
  expect(marker.isAdopted).toBe(true);
});

test('a caller that still waits when it ends gets an error', async () => {
  await using api = await ScriptedApi.start();
  const marker = new AdoptionWatch(api.client, 'ipledger', silent);
  await marker[Symbol.asyncDispose]();
  await expect(marker.adopted).rejects.toThrow('the agent stops; it no longer waits for the adoption');
});
