import { expect, test } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { CONFIGURATION, putCaBundles } from './ca-bundles.ts';

const found = {
  metadata: { name: CONFIGURATION, uid: 'u', resourceVersion: '7' },
  webhooks: [{ name: 'pools.ipledger.io', clientConfig: { service: { name: 'ipledger' } } }],
};

test.each([
  { name: 'is written', status: 200, body: found, written: true },
  { name: 'was changed by another process meanwhile', status: 409, body: statusBody(409, 'Conflict'), written: false },
])('a configuration that $name counts as written: $written', async ({ status, body, written }) => {
  await using made = await startScripted((request) => {
    if (request.method === 'PUT') request.answer(status, body);
    else request.answer(200, found);
  });
  const outcome = await putCaBundles(made.client, 'PEM');
  expect(outcome.written).toHaveLength(written ? 2 : 0);
  expect(outcome.missing).toEqual([]);
});
