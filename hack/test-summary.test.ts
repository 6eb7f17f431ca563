import { expect, test } from 'vitest';
import { addCargoTests, renderSummary, summarizeTests, type TestReport } from './test-summary.ts';

type File = TestReport['testResults'][number];

const passed = { status: 'passed', fullName: 'adds', duration: 12.4 };
const failed = { status: 'failed', fullName: 'subtracts', duration: 3 };
const skipped = { status: 'skipped', fullName: 'divides' };
const file = (status: string, ...assertionResults: File['assertionResults'][number][]): File => ({
  name: 'a.test.ts',
  status,
  assertionResults,
});

test.each([
  { name: 'all passed', files: [file('passed', passed, passed)], endedWell: true, counts: [2, 0, 0] },
  { name: 'one failed', files: [file('failed', passed, failed)], endedWell: false, counts: [1, 1, 0] },
  {
    name: 'a file that does not load',
    files: [file('failed'), file('passed', passed)],
    endedWell: false,
    counts: [1, 1, 0],
  },
  { name: 'a hook that throws', files: [file('failed', skipped, skipped)], endedWell: false, counts: [0, 1, 2] },
  { name: 'an error outside every test', files: [file('passed', passed)], endedWell: false, counts: [1, 1, 0] },
  { name: 'nothing ran', files: [], endedWell: false, counts: [0, 1, 0] },
])('$name', ({ files, endedWell, counts }) => {
  const summary = summarizeTests({ testResults: files }, endedWell);
  expect([summary.passed, summary.failed, summary.skipped]).toEqual(counts);
});

test('the ten slowest tests, slowest first', () => {
  const tests = Array.from({ length: 12 }, (_, index) => ({ ...passed, fullName: `t${index}`, duration: index }));
  const { slowest } = summarizeTests({ testResults: [file('passed', ...tests)] }, true);
  expect(slowest.map(({ ms }) => ms)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
});

const CARGO = `
running 2 tests
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
`;

test.each([
  { name: 'several binaries', log: CARGO, counts: [6, 1] },
  { name: 'a build that failed', log: 'error: could not compile', counts: [1, 1] },
])('the tests of the Rust host: $name', ({ log, counts }) => {
  const { passed: good, failed: bad } = addCargoTests(
    summarizeTests({ testResults: [file('passed', passed)] }, true),
    log,
  );
  expect([good, bad]).toEqual(counts);
});

test('the last line is exactly the counts', () => {
  const summary = summarizeTests({ testResults: [file('passed', passed, skipped)] }, true);
  expect(renderSummary(summary)).toBe(
    '\nThe slowest tests:\nms  test\n12  a.test.ts adds\n 0  a.test.ts divides\n\n1 skipped\n1 passed, 0 failed\n',
  );
});
