import { existsSync, readFileSync } from 'node:fs';
import { renderSummary, summarizeTests, type TestReport } from './test-summary.ts';

const [file = '', exitCode = '1'] = process.argv.slice(2);
const report: TestReport = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { testResults: [] };
const here = `${process.cwd()}/`;
const testResults = report.testResults.map((result) => ({ ...result, name: result.name.replace(here, '') }));
const summary = summarizeTests({ testResults }, exitCode === '0');
process.stdout.write(renderSummary(summary));
process.exitCode = summary.failed === 0 ? 0 : 1;
