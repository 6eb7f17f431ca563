import { expect, test } from 'vitest';
import { type ExchangePlan, ProbeExchange } from './exchange.ts';

const MAC = '0a:00:00:00:00:02';
const CONFLICT: ExchangePlan = { detectConflict: true, detectGateway: false, windowMs: 100, count: 3 };
const GATEWAY: ExchangePlan = { ...CONFLICT, detectConflict: false, detectGateway: true };
const BOTH: ExchangePlan = { ...CONFLICT, detectGateway: true };

interface Arrival {
  readonly atMs: number;
  readonly of: 'address' | 'gateway';
}

/** Runs an exchange on a simulated clock that stalls at the times in `stalls`. */
function run(plan: ExchangePlan, arrivals: readonly Arrival[], isAwake: (nowMs: number) => boolean = () => true) {
  const exchange = new ProbeExchange(plan);
  const asked: string[] = [];
  const pending = [...arrivals];
  for (let nowMs = 0; nowMs < 2_000; nowMs += 1) {
    if (!isAwake(nowMs)) continue;
    while (pending[0] !== undefined && pending[0].atMs <= nowMs) {
      exchange.see({ of: pending[0].of, mac: MAC });
      pending.shift();
    }
    const outcome = exchange.outcome(nowMs);
    if (outcome !== null) return { ...outcome, atMs: nowMs, asked };
    const question = exchange.due(nowMs);
    if (question === null) continue;
    exchange.asked(question, nowMs);
    asked.push(`${question} ${nowMs}`);
  }
  throw new Error('the exchange did not end');
}

test('answers of the ignored host do not count, those of another do', () => {
  const exchange = new ProbeExchange({ ...CONFLICT, ignoredMac: MAC });
  exchange.see({ of: 'address', mac: MAC });
  expect(exchange.outcome(0)).toBeNull();
  exchange.see({ of: 'address', mac: '0a:00:00:00:00:03' });
  expect(exchange.outcome(0)).toEqual({ kind: 'conflict', mac: '0a:00:00:00:00:03' });
});

const PROBES = ['address 0', 'address 34', 'address 67'];

test.each([
  {
    name: 'silence is free after the window, with three probes spread over it',
    plan: CONFLICT,
    arrivals: [],
    expected: { kind: 'free', atMs: 100, asked: PROBES },
  },
  {
    name: 'an answer ends it at once',
    plan: CONFLICT,
    arrivals: [{ atMs: 2, of: 'address' } as const],
    expected: { kind: 'conflict', mac: MAC, atMs: 2, asked: ['address 0'] },
  },
  {
    name: 'an answer after 90 ms is in time',
    plan: CONFLICT,
    arrivals: [{ atMs: 90, of: 'address' } as const],
    expected: { kind: 'conflict', mac: MAC, atMs: 90, asked: PROBES },
  },
  {
    name: 'an answer in the last moment is in time',
    plan: CONFLICT,
    arrivals: [{ atMs: 100, of: 'address' } as const],
    expected: { kind: 'conflict', mac: MAC, atMs: 100, asked: PROBES },
  },
  {
    name: 'an answer after 300 ms is not seen',
    plan: CONFLICT,
    arrivals: [{ atMs: 300, of: 'address' } as const],
    expected: { kind: 'free', atMs: 100, asked: PROBES },
  },
  {
    name: 'one probe in a short window',
    plan: { ...CONFLICT, windowMs: 20, count: 1 },
    arrivals: [],
    expected: { kind: 'free', atMs: 20, asked: ['address 0'] },
  },
  {
    name: 'a gateway that answers',
    plan: GATEWAY,
    arrivals: [{ atMs: 3, of: 'gateway' } as const],
    expected: { kind: 'free', atMs: 3, asked: ['gateway 0'] },
  },
  {
    name: 'a gateway that answers the third time only',
    plan: GATEWAY,
    arrivals: [{ atMs: 202, of: 'gateway' } as const],
    expected: { kind: 'free', atMs: 202, asked: ['gateway 0', 'gateway 100', 'gateway 200'] },
  },
  {
    name: 'a gateway that is silent three times',
    plan: GATEWAY,
    arrivals: [],
    expected: { kind: 'gateway-unreachable', atMs: 300, asked: ['gateway 0', 'gateway 100', 'gateway 200'] },
  },
  {
    name: 'who only asks for the gateway does not hear of the address',
    plan: GATEWAY,
    arrivals: [{ atMs: 1, of: 'address' } as const, { atMs: 3, of: 'gateway' } as const],
    expected: { kind: 'free', atMs: 3, asked: ['gateway 0'] },
  },
  {
    name: 'both together take no longer than the window',
    plan: BOTH,
    arrivals: [{ atMs: 85, of: 'gateway' } as const],
    expected: { kind: 'free', atMs: 100, asked: [...PROBES, 'gateway 84'] },
  },
  {
    name: 'a conflict before the question for the gateway, which names the address: it is not sent',
    plan: BOTH,
    arrivals: [{ atMs: 83, of: 'address' } as const],
    expected: { kind: 'conflict', mac: MAC, atMs: 83, asked: PROBES },
  },
  {
    name: 'a conflict counts as long as the gateway is waited for',
    plan: BOTH,
    arrivals: [{ atMs: 250, of: 'address' } as const],
    expected: { kind: 'conflict', mac: MAC, atMs: 250, asked: [...PROBES, 'gateway 84', 'gateway 184'] },
  },
  {
    name: 'no conflict, but no gateway either',
    plan: BOTH,
    arrivals: [],
    expected: {
      kind: 'gateway-unreachable',
      atMs: 384,
      asked: [...PROBES, 'gateway 84', 'gateway 184', 'gateway 284'],
    },
  },
])('$name', ({ plan, arrivals, expected }) => {
  expect(run(plan, arrivals)).toEqual(expected);
});

test('probes that are sent late after a stall still get time for an answer', () => {
  const { asked, atMs } = run(CONFLICT, [], (nowMs) => nowMs < 5 || nowMs >= 200);
  expect(asked).toEqual(['address 0', 'address 200', 'address 217']);
  expect(atMs).toBe(234);
});
