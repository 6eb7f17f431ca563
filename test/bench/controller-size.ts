import { setTimeout as sleep } from 'node:timers/promises';
import { heapSizeMb } from '#pkg/memory/heap-size.ts';
import { type ControllerProgram, runControllerProgram } from '#test/integration/controller-program.ts';
import { readRssMb } from './agent-bench.ts';
import { LIMIT_STALL_MS, longestStallMs, WITH_STALLS } from './controller-stalls.ts';
import { foreignShare, markCpu } from './foreign-cpu.ts';
import { readCpuMs } from './process-cpu.ts';
import { printTable } from './report.ts';
import { startStandIn } from './stand-in.ts';

const COUNT = Number(process.env['BENCH_SIZE'] ?? 100_000);
/** Of the container, in MiB. The controller gets the heap that it would have there. */
const LIMIT_MB = Number(process.env['BENCH_LIMIT_MB'] ?? 600);
const LIMIT_SWEEP_SECONDS = 60;
const LIMIT_EVENT_MS = 5;
const EVENTS = 5_000;
const EVENTS_MS = 20_000;
const WATCHED_EVERY_MS = 250;

/** The leader with 100,000 pods, records and endpoints, on a server that stands in for lists and watches. */
export async function benchControllerSize(): Promise<void> {
  await using api = await startStandIn(COUNT);
  const mark = markCpu();
  const heapMb = heapSizeMb('controller', LIMIT_MB * 1_024 * 1_024);
  const env = { IPLEDGER_HEAP_MB: String(heapMb), IPLEDGER_GC_DEFAULT_INTERVAL_DURATION: '10', ...WITH_STALLS };
  await using controller = await runControllerProgram(api.kubeconfig, 'bench', env);
  const startedMs = performance.now();
  using memory = new MemoryWatch(controller);
  const stalls: Record<string, number> = {};
  const look = async (phase: string) => {
    stalls[phase] = Math.max(stalls[phase] ?? 0, await longestStallMs(controller));
  };

  await until(controller, 'sweep finished', 1);
  const startSeconds = (performance.now() - startedMs) / 1_000;
  await look('start');
  await sleep(5_000);
  const rss = readRssMb(controller);
  const highestAtStart = memory.highest();

  await until(controller, 'sweep finished', 3);
  await look('sweep');
  await api.ask({ do: 'expire' });
  await sleep(5_000);
  await look('relist');
  const highest = memory.highest();
  const rssAfter = readRssMb(controller);

  // What follows the lists is over, so that what is used while nothing changes is known.
  await until(controller, 'sweep finished', linesOf(controller, 'sweep finished').length + 2);
  const idle = await cpuMsPerSecond(controller, 20);
  const before = readCpuMs(controller.pid);
  const eventsMs = performance.now();
  await api.ask({ do: 'change-pods', count: EVENTS, ms: EVENTS_MS });
  await sleep(1_000);
  const seconds = (performance.now() - eventsMs) / 1_000;
  const eventMs = (readCpuMs(controller.pid) - before - idle * seconds) / EVENTS;
  await look('events');
  for (let scrape = 0; scrape < 5; scrape += 1) {
    await sleep(1_100);
    await look('scrape');
  }

  const sweepSeconds = Math.max(...linesOf(controller, 'sweep finished').map(({ tookMs }) => Number(tookMs))) / 1_000;
  const longest = Math.max(...Object.values(stalls));
  const foreign = `${(foreignShare(mark) * 100).toFixed(0)} % of the CPU was used by others`;
  const isAlive = linesOf(controller, 'caches synced').length === 1;
  printTable(
    `Leader with ${COUNT} pods, records and endpoints, with the heap of a container of ${LIMIT_MB} MiB (${heapMb} MiB); the API server is a stand-in (${foreign})`,
    [
      {
        what: 'RSS, 5 s after the first sweep',
        value: `${rss.toFixed(0)} MB (at most ${highestAtStart.toFixed(0)} MB meanwhile)`,
        limit: `under ${LIMIT_MB} MB`,
        isMet: rss < LIMIT_MB && highestAtStart < LIMIT_MB,
      },
      {
        what: 'RSS after a relist of everything at once',
        value: `${rssAfter.toFixed(0)} MB (at most ${highest.toFixed(0)} MB meanwhile)${isAlive ? '' : ', restarted'}`,
        limit: `under ${LIMIT_MB} MB`,
        isMet: isAlive && highest < LIMIT_MB,
      },
      { what: 'from its start until the first sweep has ended', value: `${startSeconds.toFixed(1)} s` },
      {
        what: 'the longest full sweep',
        value: `${sweepSeconds.toFixed(2)} s`,
        limit: `under ${LIMIT_SWEEP_SECONDS} s`,
        isMet: sweepSeconds < LIMIT_SWEEP_SECONDS,
      },
      {
        what: `CPU of one pod event (${EVENTS} of them)`,
        value: `${eventMs.toFixed(3)} ms`,
        limit: `under ${LIMIT_EVENT_MS} ms`,
        isMet: eventMs < LIMIT_EVENT_MS,
      },
      {
        what: 'the longest stall of the event loop',
        value: Object.entries(stalls)
          .map(([phase, ms]) => `${phase} ${ms.toFixed(0)} ms`)
          .join(', '),
        limit: `under ${LIMIT_STALL_MS} ms`,
        isMet: longest < LIMIT_STALL_MS,
      },
    ],
  );
}

/** The highest VmRSS since the last question. */
class MemoryWatch implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #highest = 0;

  constructor(controller: ControllerProgram) {
    this.#timer = setInterval(() => {
      this.#highest = Math.max(this.#highest, readRssMb(controller));
    }, WATCHED_EVERY_MS);
  }

  highest(): number {
    const highest = this.#highest;
    this.#highest = 0;
    return highest;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

const linesOf = ({ lines }: ControllerProgram, message: string) => lines.filter(({ msg }) => msg === message);

async function until(controller: ControllerProgram, message: string, times: number): Promise<void> {
  while (linesOf(controller, message).length < times) await sleep(50);
}

async function cpuMsPerSecond({ pid }: ControllerProgram, seconds: number): Promise<number> {
  const before = readCpuMs(pid);
  await sleep(seconds * 1_000);
  return (readCpuMs(pid) - before) / seconds;
}
