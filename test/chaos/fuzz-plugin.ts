import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isSupportedVersion } from '#pkg/cni/result.ts';
import { type FuzzCase, makeCase, type Target } from './fuzz-cases.ts';
import { type Driver, driveProcesses, driveReplay, type Outcome, runOnNode } from './fuzz-drivers.ts';

const HELP = `node test/chaos/fuzz-plugin.ts [options]

Feeds the built plugin with hostile stdins and hostile answers of the agent. Whatever comes, it must end in time and print
nothing but one JSON document: a result or nothing with exit code 0, a CNI error with exit code 1; and exactly what the
same TypeScript answers on Node.

  --count N           cases of each kind (default 1000)
  --seed N            decides all of them (default 1)
  --target stdin      only one kind: stdin or answers
  --only N            one case, and everything about it
  --jobs N            at once (default 2)
  --replay PROGRAM    many cases in one process, about four times as fast; hack/build-plugin --example replay builds it
  --plugin PATH       another executable (default dist/native/ipledger)
`;
const ROOT = join(import.meta.dirname, '..', '..');
const SLOW_MS = 30_000;
const ENOUGH_FAILURES = 20;

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    target: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    replay: { type: 'string' },
    plugin: { type: 'string', default: join(ROOT, 'dist/native/ipledger') },
    help: { type: 'boolean', default: false },
  },
});
const seed = Number(options.seed);
let failures = 0;

if (options.help) tell(HELP);
else for (const target of targets()) await fuzz(target);
process.exitCode = failures === 0 ? 0 : 1;

function targets(): Target[] {
  if (options.target === undefined) return ['stdin', 'answers'];
  if (options.target === 'stdin' || options.target === 'answers') return [options.target];
  throw new Error(`--target must be stdin or answers, not ${options.target}`);
}

async function fuzz(target: Target): Promise<void> {
  const startedMs = performance.now();
  const indexes = options.only === undefined ? Array(Number(options.count)).keys() : [Number(options.only)].values();
  const tally = new Map<string, number>();
  await Promise.all(Array.from({ length: Number(options.jobs) }, () => work(target, indexes, tally)));
  const ran = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const seconds = (performance.now() - startedMs) / 1000;
  tell(`${target}: ${ran} cases with seed ${seed} in ${seconds.toFixed(0)} s, ${failures} failures so far`);
  for (const [kind, count] of [...tally].toSorted(([, a], [, b]) => b - a))
    tell(`  ${String(count).padStart(7)}  ${kind}`);
}

/** The workers share one iterator, so that each case runs once. */
async function work(target: Target, indexes: Iterator<number>, tally: Map<string, number>): Promise<void> {
  await using driver = startDriver();
  for (let next = indexes.next(); !next.done && failures < ENOUGH_FAILURES; next = indexes.next()) {
    const it = makeCase(seed, next.value, target);
    const kind = await judge(driver, it, `--target ${target} --seed ${seed} --only ${next.value}`);
    tally.set(kind, (tally.get(kind) ?? 0) + 1);
  }
}

function startDriver(): Driver {
  return options.replay === undefined ? driveProcesses(options.plugin) : driveReplay(options.replay);
}

async function judge(driver: Driver, it: FuzzCase, how: string): Promise<string> {
  const startedMs = performance.now();
  const outcome = await driver.run(it);
  const tookMs = performance.now() - startedMs;
  const onNode = await runOnNode(it);
  const complaint =
    complaintAbout(outcome) ??
    (tookMs > SLOW_MS ? `it took ${Math.round(tookMs)} ms` : null) ??
    (outcome.code !== onNode.code || outcome.stdout !== onNode.stdout ? `Node says ${JSON.stringify(onNode)}` : null);
  if (complaint !== null) {
    failures++;
    tell(`FAILED ${how}: ${complaint}; it ended with ${JSON.stringify(outcome)}`);
  }
  if (options.only !== undefined) {
    tell(`stdin  ${JSON.stringify(String(it.stdin))}\nanswer ${JSON.stringify(String(it.answer))}`);
    tell(`${JSON.stringify(it.env)}\n${JSON.stringify(outcome)}`);
  }
  return kindOf(outcome);
}

function complaintAbout({ code, stdout, stderr }: Outcome): string | null {
  if (stderr !== '') return 'it wrote to stderr';
  if (code !== 0 && code !== 1) return 'its exit code is neither 0 nor 1';
  if (code === 0 && stdout === '') return null;
  if (stdout.trimEnd().includes('\n')) return 'its output is more than one line';
  try {
    const document = JSON.parse(stdout);
    if (!isSupportedVersion(document.cniVersion)) return 'its document has no version';
    if (code === 0) return 'ips' in document || 'supportedVersions' in document ? null : 'its document is no result';
    const isError = Number.isInteger(document.code) && document.code > 0 && typeof document.msg === 'string';
    return isError && document.msg !== '' ? null : 'its document is no error';
  } catch {
    return 'its output is no JSON';
  }
}

function kindOf({ code, stdout }: Outcome): string {
  const [, cniCode] = /"code":(\d+)/.exec(stdout) ?? [];
  return code === 0 ? (stdout === '' ? 'success without output' : 'a result') : `CNI error ${cniCode ?? '?'}`;
}

function tell(words: string): void {
  process.stdout.write(`${words}\n`);
}
