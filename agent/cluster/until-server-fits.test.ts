import { pino } from 'pino';
import { expect, test } from 'vitest';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import { startScripted } from '#test/support/scripted-client.ts';
import { untilServerFits } from './until-server-fits.ts';

const OBJECT = {
  metadata: { name: 'ipledger-agent-records', uid: 'u', resourceVersion: '1' },
  spec: { validationActions: ['Deny'] },
};

test('an agent waits for an API server that it may work with, says why, and asks rarely', async () => {
  const versions = [null, 'v1.29.1', 'v1.29.1', 'v1.36.0'];
  const pauses: number[] = [];
  const timing = {
    ...SYSTEM_TIMING,
    setTimer: (ms: number, run: () => void) => {
      pauses.push(ms);
      return SYSTEM_TIMING.setTimer(0, run);
    },
  };
  await using made = await startScripted(
    ({ path, answer }) => {
      if (path !== '/version') return answer(200, OBJECT);
      const gitVersion = versions.shift();
      answer(gitVersion === null ? 500 : 200, { gitVersion });
    },
    { timing },
  );
  const lines: string[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) });
  const waits: string[] = [];
  await untilServerFits(made.client, log, (what) => void waits.push(what), new AbortController().signal);
  expect(versions).toEqual([]);
  expect(waits.slice(1)).toEqual(Array(2).fill(expect.stringContaining('ipledger needs 1.30 or later')));
  expect(lines.filter((line) => line.includes('not supported'))).toHaveLength(2);
  expect(lines.at(-1)).toContain('v1.36.0');
  const [first = 0, ...rest] = pauses;
  expect(first).toBeLessThanOrEqual(500);
  expect(Math.min(...rest)).toBeGreaterThanOrEqual(60_000);
});
