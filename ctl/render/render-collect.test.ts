import { expect, test } from 'vitest';
import { renderCollect } from './render-collect.ts';

const gone = { name: '10.0.0.5', holder: 'default/web', because: 'its network namespace is gone' };
const young = { name: '10.0.0.6', holder: 'default/db', because: 'a second look, 41 s from now' };

test.each([
  { name: 'nothing to do', answer: { dryRun: false, freed: [], kept: [] }, text: 'Nothing to collect.\n' },
  {
    name: 'a dry run',
    answer: { dryRun: true, freed: [gone], kept: [] },
    text: 'Would free (1):\nRECORD    HOLDER       BECAUSE\n10.0.0.5  default/web  its network namespace is gone\n',
  },
  {
    name: 'a real one that keeps a record',
    answer: { dryRun: false, freed: [gone], kept: [young] },
    text: [
      'Freed (1):',
      'RECORD    HOLDER       BECAUSE',
      '10.0.0.5  default/web  its network namespace is gone',
      '',
      'Kept for now (1):',
      'RECORD    HOLDER      BECAUSE',
      '10.0.0.6  default/db  a second look, 41 s from now',
      '',
    ].join('\n'),
  },
])('$name', ({ answer, text }) => {
  expect(renderCollect(answer)).toBe(text);
});
