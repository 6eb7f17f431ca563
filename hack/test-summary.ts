/** The part of vitest's JSON report that is read here. */
export interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly TestResult[];
  }[];
}

interface TestResult {
  readonly status: string;
  readonly fullName: string;
  readonly duration?: number | null;
}

export interface TestSummary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly slowest: readonly { readonly test: string; readonly ms: number }[];
}

const SLOWEST = 10;

/**
 * A file that failed without a failed test (it did not load, a hook threw) counts as one failure, and so does
 * a run that ended badly without any failure to show (`endedWell` false: an error outside every test).
 */
export function summarizeTests({ testResults }: TestReport, endedWell: boolean): TestSummary {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, name })),
  );
  const count = (status: string) => tests.filter((test) => test.status === status).length;
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const failed = count('failed') + brokenFiles.length;
  return {
    passed: count('passed'),
    failed: failed === 0 && !endedWell ? 1 : failed,
    skipped: tests.length - count('passed') - count('failed'),
    slowest: tests
      .map(({ name, fullName, duration }) => ({ test: `${name} ${fullName}`, ms: Math.round(duration ?? 0) }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SLOWEST),
  };
}

const CARGO_RESULT = /^test result: \w+\. (\d+) passed; (\d+) failed;/gm;

/** Adds the results in the output of `cargo test`; a log without any result is one failure. */
export function addCargoTests(summary: TestSummary, log: string): TestSummary {
  const results = [...log.matchAll(CARGO_RESULT)].map(
    ([, passed, failed]) => [Number(passed), Number(failed)] as const,
  );
  const passed = results.reduce((sum, [count]) => sum + count, summary.passed);
  const failed = results.reduce((sum, [, count]) => sum + count, summary.failed);
  return { ...summary, passed, failed: results.length === 0 ? failed + 1 : failed };
}

/** The last line is the result, in words that a script can rely on. */
export function renderSummary({ passed, failed, skipped, slowest }: TestSummary): string {
  const width = Math.max(...slowest.map(({ ms }) => String(ms).length), 2);
  const rows = slowest.map(({ test, ms }) => `${String(ms).padStart(width)}  ${test}\n`);
  const table = rows.length === 0 ? '' : `\nThe slowest tests:\n${'ms'.padStart(width)}  test\n${rows.join('')}\n`;
  return `${table}${skipped === 0 ? '' : `${skipped} skipped\n`}${passed} passed, ${failed} failed\n`;
}
