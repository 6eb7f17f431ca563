import { expect, test } from 'vitest';
import type { Finding } from '#pkg/agentapi/admin.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { renderReport } from './render-report.ts';
import { parseReport } from './report-line.ts';

const AS_OF_MS = Date.parse('2026-11-18T20:20:00.123Z');
const record = buildRecord({ address: '10.0.0.5', resourceVersion: '7' });
const finding = (more: Partial<Finding> = {}): Finding => ({
  kind: 'in-doubt',
  subject: '10.0.0.5',
  message: 'it is Suspect',
  records: ['10.0.0.5'],
  ...more,
});
const report = (findings: readonly Finding[], records = [record]) =>
  renderReport({ recordsChecked: 3, findings }, records, AS_OF_MS);

test('what is printed is read again, and keeps everything until a person changes it', () => {
  const text = report([finding()]);
  const { name, uid, resourceVersion } = record;
  expect(parseReport(text)).toEqual({
    asOfMs: AS_OF_MS,
    lines: [{ action: 'keep', name, uid, resourceVersion }],
  });
  const edited = parseReport(text.replace(/^keep/m, 'release'));
  expect(edited.lines.map(({ action }) => action)).toEqual(['release']);
  const doubtful = parseReport(text.replace(/^keep/m, 'release-in-doubt'));
  expect(doubtful.lines.map(({ action }) => action)).toEqual(['release-in-doubt']);
});

test('a record with two findings has one line, and a duplicate a line for each record', () => {
  const other = buildRecord({ address: '10.0.0.6' });
  const both = finding({ kind: 'duplicate-holder', records: ['10.0.0.5', '10.0.0.6'], message: 'holds 2' });
  const text = report([finding(), both], [record, other]);
  expect(text.match(/^keep +\S+/gm)?.map((line) => line.split(/ +/)[1])).toEqual(['10.0.0.5', '10.0.0.6']);
  expect(text).toContain('in-doubt: it is Suspect; duplicate-holder: holds 2');
});

test('a finding without a record is a comment, and so is one whose record is gone', () => {
  const broken = { kind: 'broken-object', subject: 'SpiderIPPool x', message: 'spec.subnet is missing' } as const;
  const text = report([broken, finding({ records: ['10.0.0.9'], subject: '10.0.0.9' })]);
  expect(parseReport(text).lines).toEqual([]);
  expect(text).toContain(
    '#   broken-object SpiderIPPool x: spec.subnet is missing\n#   in-doubt 10.0.0.9: it is Suspect\n',
  );
});

test('a name that a tenant chose cannot begin a line of its own', () => {
  const text = report([finding({ message: 'web\nrelease 10.0.0.6 u 1' })]);
  expect(parseReport(text).lines).toHaveLength(1);
});

test.each([
  { name: 'another file', text: 'hello\n', message: 'this is no report: its first line is missing' },
  { name: 'nothing', text: '', message: 'this is no report: its first line is missing' },
  {
    name: 'a misspelt action',
    text: 'ipledger-report/1 2026-11-18T20:20:00Z\n# x\nrelaese 10.0.0.5 u 7\n',
    message: 'line 3 of the report begins with "relaese" instead of keep, release, release-in-doubt',
  },
  {
    name: 'a line that was cut off',
    text: 'ipledger-report/1 2026-11-18T20:20:00Z\nrelease 10.0.0.5 u\n',
    message: 'line 2 of the report is cut off: it needs record, uid and version',
  },
])('a report that is $name is refused', ({ text, message }) => {
  expect(() => parseReport(text)).toThrow(message);
});
