import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addCargoTests, renderSummary, summarizeTests, type TestReport } from './test-summary.ts';

/** Reads the results of hack/test from a directory: vitest's JSON reports, and the log of `cargo test` if there is one. */
const [directory = '', exitCode = '1'] = process.argv.slice(2);
const names = readdirSync(directory);
const reports = names.filter((name) => name.endsWith('.json'));
/** A job that ended without a report is one failure, whatever the others counted. */
const silent = names
  .filter((name) => name.endsWith('.started') && !names.includes(name.replace(/started$/, 'json')))
  .map((name) => ({ name, status: 'failed', assertionResults: [] }));
const here = `${process.cwd()}/`;
const testResults = reports
  .flatMap((name) => (JSON.parse(readFileSync(join(directory, name), 'utf8')) as TestReport).testResults)
  .map((result) => ({ ...result, name: result.name.replace(here, '') }));
const ours = summarizeTests({ testResults: [...testResults, ...silent] }, exitCode === '0');
const cargoLog = join(directory, 'host.log');
const summary = existsSync(cargoLog) ? addCargoTests(ours, readFileSync(cargoLog, 'utf8')) : ours;
process.stdout.write(renderSummary(summary));
process.exitCode = summary.failed === 0 ? 0 : 1;
