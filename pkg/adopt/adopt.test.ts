import { afterEach, beforeEach, expect, test } from 'vitest';
import { LegacyApi } from '#test/support/legacy-api.ts';
import { adopt } from './adopt.ts';
import { SPIDERPOOL } from './spiderpool.ts';

const AGENT = { namespace: 'kube-system', name: 'spiderpool-agent' };
const marker = { adoptedAt: '2026-11-16T10:00:00Z', adoptedBy: 'ann@desk' };

let api: LegacyApi;

beforeEach(async () => {
  api = await LegacyApi.start();
});

afterEach(async () => {
  await api[Symbol.asyncDispose]();
});

test.each([{ dryRun: false }, { dryRun: true }])(
  'a Spiderpool that has nothing given out, and may, stands in the way: $dryRun',
  async ({ dryRun }) => {
    api.accounts = [{ ...AGENT, mayWrite: true }];
    const { outcome, writers } = await adopt(api.client, SPIDERPOOL, { dryRun, namespace: 'ipledger', marker });
    expect([outcome, writers, api.isMarked]).toEqual(['refused', ['kube-system/spiderpool-agent'], false]);
  },
);

test('accounts of Spiderpool without the right do not', async () => {
  api.accounts = [{ ...AGENT, mayWrite: false }];
  expect(await adopt(api.client, SPIDERPOOL, { dryRun: false, namespace: 'ipledger', marker })).toMatchObject({
    outcome: 'adopted',
    writers: [],
  });
  expect(api.isMarked).toBe(true);
});

test('what was given out is read after nobody may give out more', async () => {
  api.accounts = [{ ...AGENT, mayWrite: false }];
  await adopt(api.client, SPIDERPOOL, { dryRun: false, namespace: 'ipledger', marker });
  const [review, pools] = ['POST subjectaccessreviews', 'GET spiderippools'].map((it) => api.asked.indexOf(it));
  expect(review).toBeGreaterThan(-1);
  expect(pools).toBeGreaterThan(review ?? 0);
});

test('a look counts what has no record and names the accounts, and asks for no review and no pods', async () => {
  api.accounts = [{ ...AGENT, mayWrite: true }];
  const allocatedIPs = '{"10.0.0.10":{"pod":"prod/web-0"}}';
  const spec = { subnet: '10.0.0.0/24', ips: ['10.0.0.10'] };
  const pool = { metadata: { name: 'v4', uid: 'u', resourceVersion: '1' }, spec, status: { allocatedIPs } };
  api.lists = { spiderippools: [pool] };
  expect(await SPIDERPOOL.lookForLegacy(api.client, 'ipledger')).toEqual({
    isAdopted: false,
    addresses: 1,
    unreadable: 0,
    accounts: ['kube-system/spiderpool-agent'],
  });
  expect(api.asked).not.toContain('POST subjectaccessreviews');
  expect(api.asked).not.toContain('GET pods');
});

test('a pod that cannot be read stands in the way only if an address was given to it', async () => {
  const spec = { subnet: '10.0.0.0/24', ips: ['10.0.0.10'] };
  const status = { allocatedIPs: '{"10.0.0.10":{"pod":"prod/web-0"}}' };
  const pod = (name: string) => ({ metadata: { name, namespace: 'prod', uid: name, resourceVersion: '1' }, spec: 7 });
  api.lists = {
    spiderippools: [{ metadata: { name: 'v4', uid: 'u', resourceVersion: '1' }, spec, status }],
    pods: [pod('web-0'), pod('other')],
  };
  expect(await adopt(api.client, SPIDERPOOL, { dryRun: false, namespace: 'ipledger', marker })).toMatchObject({
    outcome: 'refused',
    unreadable: ['pod prod/web-0: spec: expected an object, found 7'],
  });
});
