import { expect, test } from 'vitest';
import { countCalls, isOfPods, readAudited } from './audit-log.ts';

const line = (verb: string, resource: string, more: object = {}) =>
  `${JSON.stringify({
    verb,
    userAgent: 'ipledger-agent/n1',
    objectRef: { resource },
    responseStatus: { code: 201 },
    requestReceivedTimestamp: '2026-01-02T03:04:05.678901Z',
    stageTimestamp: '2026-01-02T03:04:05.682903Z',
    ...more,
  })}\n`;

test('a request is known by its daemon, its call, and its time in microseconds', () => {
  const text =
    line('create', 'iprecords') + line('patch', 'pods', { objectRef: { resource: 'pods', subresource: 'status' } });
  expect(readAudited(text)).toEqual([
    { daemon: 'ipledger-agent', call: 'create iprecords 201', tookMs: 4.002 },
    { daemon: 'ipledger-agent', call: 'patch pods/status 201', tookMs: 4.002 },
  ]);
});

test('watches and a line that is not whole yet are left out', () => {
  expect(readAudited(`${line('watch', 'pods')}${line('get', 'pods')}{"verb":"cre`)).toHaveLength(1);
});

test('a second without a fraction is read', () => {
  const times = { requestReceivedTimestamp: '2026-01-02T03:04:05Z', stageTimestamp: '2026-01-02T03:04:06.000500Z' };
  expect(readAudited(line('get', 'pods', times))).toMatchObject([{ tookMs: 1_000.5 }]);
});

test('calls are counted by daemon, the most frequent first', () => {
  const other = { userAgent: 'ipledger-controller' };
  const text = line('get', 'pods') + line('create', 'iprecords').repeat(2) + line('update', 'leases', other);
  expect([...countCalls(readAudited(text), 'ipledger-agent')]).toEqual([
    ['create iprecords 201', 2],
    ['get pods 201', 1],
  ]);
});

test.each([
  { call: 'update leases 200', expected: false },
  { call: 'get secrets 200', expected: false },
  { call: 'list ipaddressclaims 403', expected: false },
  { call: 'create iprecords 201', expected: true },
  { call: 'patch spiderippools/status 200', expected: true },
])('whether $call is made because of pods: $expected', ({ call, expected }) => {
  expect(isOfPods({ daemon: 'ipledger-controller', call, tookMs: 1 })).toBe(expected);
});
