import { expect, test } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { type Script, statusBody } from '#test/support/scripted-server.ts';
import { ApplicationReader } from './read-application.ts';

const KINDS = '/apis/kruise.test/v1';
const OBJECT = `${KINDS}/namespaces/prod/clonesets/web`;
const APPLICATION = { apiVersion: 'kruise.test/v1', kind: 'CloneSet', namespace: 'prod', name: 'web', uid: 'u-1' };
const KIND = {
  resource: { group: 'kruise.test', version: 'v1', plural: 'clonesets', kind: 'CloneSet' },
  isNamespaced: true,
  hasScale: true,
};
const object = (uid: string) => ({ metadata: { name: 'web', namespace: 'prod', uid, resourceVersion: '1' } });
const FORBIDDEN = [403, statusBody(403, 'Forbidden')] as const;
const MISSING = [404, statusBody(404, 'NotFound', { name: 'web', kind: 'clonesets' })] as const;

/** The answers by path; discovery knows CloneSets with a scale. */
async function start(answers: Readonly<Record<string, readonly [number, unknown]>>) {
  const listed = {
    resources: [{ name: 'clonesets', kind: 'CloneSet', namespaced: true }, { name: 'clonesets/scale' }],
  };
  const script: Script = ({ path, answer }) =>
    answer(...(answers[path] ?? (path === KINDS ? [200, listed] : [404, 'no such page'])));
  const pair = await startScripted(script);
  return { reader: new ApplicationReader(pair.client), pair, [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose]() };
}

test.each([
  { name: 'with its uid it is there', answer: [200, object('u-1')], is: 'there' },
  { name: 'with another uid it is gone', answer: [200, object('u-2')], is: 'gone' },
  { name: 'named as missing it is gone', answer: MISSING, is: 'gone' },
  { name: 'another 404 proves nothing', answer: [404, 'no such page'], is: 'unknown' },
  { name: 'a fault of the server proves nothing', answer: [500, ''], is: 'unknown' },
  { name: 'nor does a missing right', answer: FORBIDDEN, is: 'unknown' },
] as const)('$name', async ({ answer, is }) => {
  await using started = await start({ [OBJECT]: answer });
  expect((await started.reader.read(APPLICATION)).is).toBe(is);
});

test('a right that is missing is named, and only then', async () => {
  await using forbidden = await start({ [OBJECT]: FORBIDDEN, [`${OBJECT}/scale`]: FORBIDDEN });
  expect(await forbidden.reader.read(APPLICATION)).toMatchObject({
    missingRight: 'get clonesets in the API group kruise.test',
  });
  expect(await forbidden.reader.replicasOf(APPLICATION, KIND)).toMatchObject({
    is: 'unknown',
    missingRight: 'get clonesets/scale in the API group kruise.test',
  });
  await using broken = await start({ [OBJECT]: [500, ''] });
  expect(await broken.reader.read(APPLICATION)).not.toHaveProperty('missingRight');
});

test('a kind that is not served proves nothing', async () => {
  await using started = await start({ [KINDS]: [404, 'no such page'] });
  expect(await started.reader.read(APPLICATION)).toMatchObject({ is: 'unknown' });
  await using other = await start({ [KINDS]: [200, { resources: [] }] });
  expect(await other.reader.read(APPLICATION)).toMatchObject({
    because: expect.stringContaining('serves no CloneSet'),
  });
});

test.each([
  { name: 'as the scale says', answer: [200, { ...object('u-1'), spec: { replicas: 3 } }], replicas: 3 },
  { name: 'no number is zero', answer: [200, { ...object('u-1'), spec: {} }], replicas: 0 },
  { name: 'no scale: nobody says it', answer: [404, 'no such page'], replicas: null },
  { name: 'no scale of this object: nobody says it', answer: MISSING, replicas: null },
  { name: 'an outage is no answer', answer: [500, ''], replicas: { is: 'unknown' } },
] as const)('how many pods: $name', async ({ answer, replicas }) => {
  await using started = await start({ [`${OBJECT}/scale`]: answer });
  const found = await started.reader.replicasOf(APPLICATION, KIND);
  if (typeof replicas === 'object' && replicas !== null) expect(found).toMatchObject(replicas);
  else expect(found).toBe(replicas);
});

test('a kind without a scale is not asked for one', async () => {
  await using started = await start({});
  expect(await started.reader.replicasOf(APPLICATION, { ...KIND, hasScale: false })).toBeNull();
  expect(started.pair.server.requests).toEqual([]);
});

test('kinds are asked for once a minute', async () => {
  await using started = await start({ [OBJECT]: MISSING });
  await started.reader.read(APPLICATION);
  await started.reader.read(APPLICATION);
  expect(started.pair.server.requests.filter(({ path }) => path === KINDS)).toHaveLength(1);
});

test('kinds that cannot be read are asked for once, also by many at the same time', async () => {
  await using started = await start({ [KINDS]: [404, 'no such page'] });
  await Promise.all(Array.from({ length: 20 }, () => started.reader.read(APPLICATION)));
  await started.reader.read(APPLICATION);
  expect(started.pair.server.requests).toHaveLength(1);
});
