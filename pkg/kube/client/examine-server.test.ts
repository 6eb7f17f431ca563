import { expect, test } from 'vitest';
import { startScripted } from '#test/support/scripted-client.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { examineServer, judgeVersion } from './examine-server.ts';

const FINE = { warning: null, refusal: null };
const warning = (text: string) => ({ warning: expect.stringContaining(text), refusal: null });
const refusal = (text: string) => ({ warning: null, refusal: expect.stringContaining(text) });

test.each([
  { version: 'v1.29.15', judged: refusal('the API server is v1.29.15, and ipledger needs 1.30 or later') },
  { version: 'v1.30.0', judged: warning('made for 1.32 or later') },
  { version: 'v1.31.9+k3s1', judged: warning('made for 1.32 or later') },
  { version: 'v1.32.0', judged: FINE },
  { version: 'v1.33.0', judged: warning('update to 1.33.3') },
  { version: 'v1.33.2-gke.100', judged: warning('update to 1.33.3') },
  { version: 'v1.33.3', judged: FINE },
  { version: 'v1.40.0-alpha.1', judged: FINE },
  { version: 'v2.0.0', judged: FINE },
  { version: 'unknown', judged: FINE },
])('version $version', ({ version, judged }) => {
  expect(judgeVersion(version)).toEqual(judged);
});

const NAME = 'ipledger-agent-records';
const POLICY = { metadata: { name: NAME, uid: 'p', resourceVersion: '1' } };
const bindingThat = (...validationActions: string[]) => ({ ...POLICY, spec: { validationActions } });
const missing = (kind: string) => [404, statusBody(404, 'NotFound', { name: NAME, kind })] as const;
const forbidden = [403, statusBody(403, 'Forbidden')] as const;

test.each([
  { name: 'all is well', policy: [200, POLICY], binding: [200, bindingThat('Deny', 'Audit')], says: null },
  {
    name: 'no policy',
    policy: missing('validatingadmissionpolicies'),
    binding: [200, bindingThat('Deny')],
    says: 'is missing: an agent could write the records of other nodes; apply deploy/admission-policy.yaml',
  },
  {
    name: 'no binding',
    policy: [200, POLICY],
    binding: missing('validatingadmissionpolicybindings'),
    says: 'or its binding is missing',
  },
  { name: 'a kind that is not served', policy: [404, ''], binding: [404, ''], says: 'is missing' },
  { name: 'only audit', policy: [200, POLICY], binding: [200, bindingThat('Audit')], says: 'does not deny anything' },
  { name: 'no right to look', policy: forbidden, binding: forbidden, says: 'cannot be read' },
] as const)('the admission policy: $name', async ({ policy, binding, says }) => {
  await using made = await startScripted(({ path, answer }) => {
    if (path === '/version') return answer(200, { gitVersion: 'v1.36.0' });
    const [code, body] = path.includes('policybindings') ? binding : policy;
    answer(code, body);
  });
  const warnings = says === null ? [] : [expect.stringContaining(says)];
  expect(await examineServer(made.client)).toEqual({
    ok: true,
    object: { version: 'v1.36.0', warnings, refusal: null },
  });
});

test('an API server that cannot answer now is examined later', async () => {
  await using made = await startScripted(({ answer }) => answer(500, ''));
  expect(await examineServer(made.client)).toMatchObject({ ok: false, because: 'ServerError' });
});
