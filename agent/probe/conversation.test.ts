import { expect, test } from 'vitest';
import { arpDialect } from '#agent/probe/wire/arp-dialect.ts';
import { buildArpAnnouncement } from '#agent/probe/wire/arp-frame.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { Conversation } from './conversation.ts';
import type { ExchangeOutcome } from './exchange.ts';

const ADDRESS = parseAddress('10.0.2.50');
const FOREIGN = Buffer.from('0a0000000002', 'hex');
const DIALECT = arpDialect({ mac: Buffer.from('0200c0a80001', 'hex'), address: ADDRESS, gateway: null });
const PLAN = { detectConflict: true, detectGateway: false, windowMs: 100, count: 3 };

/** A wire that fails to send the given number of times; a test can add answers to it. */
function scriptedWire(failures: number) {
  const arrived: Buffer[] = [];
  let [attempts, sent] = [0, 0];
  return {
    arrived,
    attempts: () => attempts,
    sent: () => sent,
    send() {
      attempts += 1;
      if (attempts <= failures) throw new Error('no buffer space available');
      sent += 1;
    },
    receive(into: Buffer) {
      return arrived.shift()?.copy(into) ?? null;
    },
  };
}

function runUntilOutcome(conversation: Conversation): { outcome: ExchangeOutcome; atMs: number } {
  for (let nowMs = 0; nowMs < 1_000; nowMs += 3) {
    const outcome = conversation.step(nowMs);
    if (outcome !== null) return { outcome, atMs: nowMs };
  }
  throw new Error('no outcome');
}

test.each([0, 1, 3])(
  'a probe that cannot be sent %i times is sent in the end, and has its whole window',
  (failures) => {
    const wire = scriptedWire(failures);
    const { outcome, atMs } = runUntilOutcome(new Conversation(wire, DIALECT, PLAN));
    expect([outcome.kind, wire.attempts(), wire.sent()]).toEqual(['free', failures + 3, 3]);
    expect(atMs).toBeGreaterThanOrEqual(100 + 3 * failures);
  },
);

test('a probe that cannot be sent in three more tries is an error, because silence would prove nothing', () => {
  const wire = scriptedWire(4);
  expect(() => runUntilOutcome(new Conversation(wire, DIALECT, PLAN))).toThrow('no buffer space available');
  expect(wire.attempts()).toBe(4);
});

test('frames that arrived while the process was stopped are read before silence is concluded', () => {
  const wire = scriptedWire(0);
  const conversation = new Conversation(wire, DIALECT, { ...PLAN, windowMs: 20, count: 1 });
  expect(conversation.step(0)).toBeNull();
  wire.arrived.push(buildArpAnnouncement(FOREIGN, ADDRESS));
  expect(conversation.step(5_000)).toEqual({ kind: 'conflict', mac: '0a:00:00:00:00:02' });
});

test('a flood of frames does not keep the reader busy without end', () => {
  const own = buildArpAnnouncement(Buffer.from('0200c0a80001', 'hex'), ADDRESS);
  let received = 0;
  const wire = {
    send() {},
    receive(into: Buffer) {
      received += 1;
      return own.copy(into);
    },
  };
  expect(new Conversation(wire, DIALECT, PLAN).step(0)).toBeNull();
  expect(received).toBeLessThan(5_000);
});
