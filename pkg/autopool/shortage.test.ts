import { expect, test } from 'vitest';
import { WEB } from '#test/support/build-auto-pool.ts';
import { formatShortages, readShortage, SHORTAGE_CONDITION, type Shortage, shortageLines } from './shortage.ts';

const shortage = (name: string, overrides: Partial<Shortage> = {}): Shortage => ({
  application: { ...WEB, name },
  interface: 'eth0',
  why: 'required 10, left 3',
  ...overrides,
});

test('a person reads one line for each application', () => {
  expect(formatShortages([shortage('web'), shortage('db', { interface: 'net1' })])).toBe(
    'apps/v1 Deployment prod/web eth0: required 10, left 3\napps/v1 Deployment prod/db net1: required 10, left 3',
  );
});

const statusOf = (message: unknown, status = 'True') => ({
  conditions: [null, { type: 'Ready', status: 'True' }, { type: SHORTAGE_CONDITION, status, message }],
});

test('what is said of one application is found again, and of no other one', () => {
  const status = statusOf(formatShortages([shortage('web-2'), shortage('web', { why: 'required 7, left 0' })]));
  expect(readShortage(status, shortage('web'))).toBe('required 7, left 0');
  expect(readShortage(status, shortage('web', { interface: 'net1' }))).toBeNull();
  expect(readShortage(status, shortage('we'))).toBeNull();
});

test('everything that is said is listed', () => {
  expect(shortageLines(statusOf(formatShortages([shortage('web'), shortage('db')])))).toEqual([
    'apps/v1 Deployment prod/web eth0: required 10, left 3',
    'apps/v1 Deployment prod/db eth0: required 10, left 3',
  ]);
  expect(shortageLines(null)).toEqual([]);
});

test.each([
  undefined,
  null,
  [],
  {},
  { conditions: 1 },
  statusOf(1),
  statusOf(formatShortages([shortage('web')]), 'False'),
])('a status without a shortage says nothing: %j', (status) => {
  expect(readShortage(status, shortage('web'))).toBeNull();
});

test('a namespace with many faults leaves lines for those of others', () => {
  const many = Array.from({ length: 100 }, (_, i) => shortage(`a-${i}`));
  const other = shortage('web', { application: { ...WEB, namespace: 'other' } });
  expect(readShortage(statusOf(formatShortages([...many, other])), other)).toBe('required 10, left 3');
});

test('the words of the API server take one line', () => {
  const why = 'refused:\n  spec.ips: no';
  expect(formatShortages([shortage('web', { why })])).toBe('apps/v1 Deployment prod/web eth0: refused: spec.ips: no');
});

test('the message is bounded and says how many it leaves out', () => {
  const many = Array.from({ length: 500 }, (_, i) => shortage(`${'n'.repeat(240)}${i}`, { why: 'x'.repeat(2_000) }));
  const message = formatShortages(many);
  expect(message.length).toBeLessThan(32_768);
  expect(message).toMatch(/\n… and 470 more$/);
});

test('what concerns all interfaces of an application is found for each', () => {
  const status = statusOf(formatShortages([shortage('web', { interface: null, why: 'it cannot be read' })]));
  expect(shortageLines(status)).toEqual(['apps/v1 Deployment prod/web: it cannot be read']);
  expect(readShortage(status, shortage('web', { interface: 'net1' }))).toBe('it cannot be read');
  expect(readShortage(status, shortage('we'))).toBeNull();
});

test('an application beyond the lines that fit may be one of those without a line', () => {
  const status = statusOf(formatShortages(Array.from({ length: 42 }, (_, at) => shortage(`app-${at}`))));
  expect(readShortage(status, shortage('app-41'))).toBe(
    'not listed: 12 more wait; the Events of the application say why',
  );
});

test('while nothing is known, the reason for that is said of every application', () => {
  const status = statusOf('no pool is made yet', 'Unknown');
  expect(readShortage(status, shortage('web'))).toBe('no pool is made yet');
  expect(shortageLines(status)).toEqual(['no pool is made yet']);
});
