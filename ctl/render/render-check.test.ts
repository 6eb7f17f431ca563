import { expect, test } from 'vitest';
import { renderCheck } from './render-check.ts';

test('a sound ledger is one line', () => {
  expect(renderCheck({ recordsChecked: 1, findings: [] })).toBe('1 record checked, nothing found.\n');
});

test('each finding is a row', () => {
  const findings = [
    { kind: 'outside-pool', subject: '10.0.0.5', message: 'pool v4 does not contain it any more' },
    { kind: 'broken-pool-file', subject: 'bad.yaml', message: 'subnet is missing' },
  ] as const;
  expect(renderCheck({ recordsChecked: 12, findings })).toBe(
    [
      '12 records checked, 2 findings:',
      'KIND              SUBJECT   WHAT IS WRONG',
      'outside-pool      10.0.0.5  pool v4 does not contain it any more',
      'broken-pool-file  bad.yaml  subnet is missing',
      '',
    ].join('\n'),
  );
});
