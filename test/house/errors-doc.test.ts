import { describe, expect, test } from 'vitest';
import { REASONS } from '#pkg/errors/reasons.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { FAILURES, type FailureKind, failure } from '#pkg/kube/objects/outcome.ts';
import { readRootFile } from './source-files.ts';

const [, ...sections] = readRootFile('docs/errors.md').split(/^## /m);
const documented = sections.map((section) => {
  const [reason = '', ...lines] = section.split('\n');
  return { reason, text: lines.join('\n') };
});

test('the page has exactly the reasons of the source, in order', () => {
  expect(documented.map(({ reason }) => reason)).toEqual(Object.keys(REASONS));
});

describe.each(documented)('$reason', ({ reason, text }) => {
  test('has the code and the retry of the source', () => {
    const { cni, retry } = REASONS[reason as keyof typeof REASONS];
    expect(text.trimStart().split('\n')[0]).toBe(`Code ${cni}. Retry: ${retry ? 'yes' : 'no'}.`);
  });

  test('has a cause and a cure', () => {
    expect(text).toMatch(/^\*\*Cause\.\*\* \S.{20}/ms);
    expect(text).toMatch(/^\*\*Cure\.\*\* \S.{20}/ms);
  });
});

/** Answers about an object that the code handles itself; no user sees them. */
const ANSWERS: readonly FailureKind[] = ['AlreadyExists', 'Conflict', 'NotFound', 'Expired'];
const kinds = (Object.keys(FAILURES) as FailureKind[]).filter((kind) => !ANSWERS.includes(kind));

test.each(kinds)('the answer of the API server is explained under its reason: %s', (kind) => {
  const { reason } = toApiError('read', failure(kind, 'm'), 'not served');
  const explaining = documented.filter(({ text }) => text.includes(`\`${kind}\``)).map((section) => section.reason);
  expect(explaining).toEqual([reason]);
});
