import { existsSync, readFileSync } from 'node:fs';
import { addCargoTests, renderSummary, summarizeTests, type TestReport } from './test-summary.ts';

const [file = '', exitCode = '1', cargoLog = ''] = process.argv.slice(2);
const report: TestReport = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { testResults: [] };
const here = `${process.cwd()}/`;
const testResults = report.testResults.map((result) => ({ ...result, name: result.name.replace(here, '') }));
const ours = summarizeTests({ testResults }, exitCode === '0');
// Without a Rust toolchain there is no such log.
const summary = existsSync(cargoLog) ? addCargoTests(ours, readFileSync(cargoLog, 'utf8')) : ours;
process.stdout.write(renderSummary(summary));
process.exitCode = summary.failed === 0 ? 0 : 1;
