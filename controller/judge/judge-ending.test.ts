import { describe, test } from 'vitest';
import {
  agentAwayFor,
  agentReadyFor,
  buildPod,
  buildPodRecord,
  NODE_NOT_READY,
  NODE_OUT_OF_SERVICE,
  NOW_MS,
  nodeGoneFor,
  WALL_MS,
} from '#test/support/build-evidence.ts';
import { checkVerdict, free, type JudgeCase, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

describe('a pod that is Terminating', () => {
  const overdue = { deletesAtMs: WALL_MS - 60_000 };
  const ended = { haveAllEnded: true, isAnyRunning: false };
  test.each<JudgeCase>([
    {
      name: 'before its deadline: kept until then, the grace counted once',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS + 30_000 }) },
      verdict: keep('within-grace', 30_000),
    },
    {
      name: 'before its deadline without an address in its status: kept too',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS + 30_000, podIPs: [] }) },
      verdict: keep('within-grace', 30_000),
    },
    {
      name: 'past it on a Ready node, all containers ended, and its agent did not release it: suspect',
      evidence: { pod: buildPod({ ...overdue, ...ended }) },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it with an additional delay: kept',
      evidence: { pod: buildPod({ ...overdue, ...ended }) },
      settings: { additionalDelayMs: 65_000 },
      verdict: keep('within-grace', 5_000),
    },
    {
      name: 'just past it, a container still running: it is being killed, wait a minute',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS - 1_000 }) },
      verdict: keep('within-grace', 59_000),
    },
    {
      name: 'just past it, all containers ended: its agent has a minute',
      evidence: { pod: buildPod({ ...ended, deletesAtMs: WALL_MS - 1_000 }) },
      verdict: keep('within-grace', 59_000),
    },
    {
      name: 'past it on a Ready node, a container still running: suspect',
      evidence: { pod: buildPod(overdue) },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it on a Ready node, nothing known of its containers: suspect',
      evidence: { pod: buildPod({ ...overdue, isAnyRunning: false }) },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it on a Ready node, switched off: kept',
      evidence: { pod: buildPod({ ...overdue, ...ended }) },
      settings: { collectsOnReadyNodes: false },
      verdict: keep('switched-off'),
    },
    {
      name: 'past it on a node that is not Ready: suspect, whatever was said of its containers',
      evidence: { pod: buildPod({ ...overdue, ...ended }), node: NODE_NOT_READY },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it on a node that is not Ready, switched off: kept',
      evidence: { pod: buildPod(overdue), node: NODE_NOT_READY },
      settings: { collectsOnNotReadyNodes: false },
      verdict: keep('switched-off'),
    },
    {
      name: 'past it on a Ready node, its agent Ready for 20 s: it has the rest of its minute',
      evidence: { pod: buildPod(overdue), agent: agentReadyFor(20) },
      verdict: keep('left-to-agent', 40_000),
    },
    {
      name: 'past it on a Ready node without an agent for 5 min: suspect',
      evidence: { pod: buildPod(overdue), agent: agentAwayFor(300) },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it on a Ready node without an agent, switched off: kept',
      evidence: { pod: buildPod(overdue), agent: agentAwayFor(300) },
      settings: { collectsOnReadyNodes: false },
      verdict: keep('switched-off'),
    },
    {
      name: 'past it on a Ready node, collection of Terminating pods switched off: kept',
      evidence: { pod: buildPod({ ...overdue, ...ended }) },
      settings: { collectsTerminating: false },
      verdict: keep('switched-off'),
    },
    {
      name: 'past it on a node that is not Ready, collection of Terminating pods switched off: kept',
      evidence: { pod: buildPod(overdue), node: NODE_NOT_READY },
      settings: { collectsTerminating: false },
      verdict: keep('switched-off'),
    },
    {
      name: 'past it with its node gone, collection of Terminating pods switched off: free all the same',
      evidence: { pod: buildPod(overdue), node: nodeGoneFor(301) },
      settings: { collectsTerminating: false },
      verdict: free('pod-terminating'),
    },
    {
      name: 'past it and already suspect: left to its agent',
      record: buildPodRecord({}, { state: 'Suspect' }),
      evidence: { pod: buildPod(overdue) },
      verdict: keep('left-to-agent'),
    },
    {
      name: 'past it with its node gone: free',
      evidence: { pod: buildPod(overdue), node: nodeGoneFor(301) },
      verdict: free('pod-terminating'),
    },
    {
      name: 'past it with its node out of service: free',
      evidence: { pod: buildPod(overdue), node: NODE_OUT_OF_SERVICE },
      verdict: free('pod-terminating'),
    },
    {
      name: 'with grace 0: past it at once, and given the same minute',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS, graceSeconds: 0 }) },
      verdict: keep('within-grace', 60_000),
    },
    {
      name: 'and Pending, before its deadline: kept',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS + 30_000, phase: 'Pending', isAnyRunning: false }) },
      verdict: keep('within-grace', 30_000),
    },
    {
      name: 'and Pending, past it: suspect like any other',
      evidence: { pod: buildPod({ ...overdue, phase: 'Pending', isAnyRunning: false }), node: NODE_NOT_READY },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'and Pending, past it with its node gone: free',
      evidence: { pod: buildPod({ ...overdue, phase: 'Pending', isAnyRunning: false }), node: nodeGoneFor(900) },
      verdict: free('pod-terminating'),
    },
  ])('$name', checkVerdict);
});

describe('a pod that finished', () => {
  const done = { isAnyRunning: false, haveAllEnded: true, finishedAtMs: WALL_MS - 90_000 };
  const finishedSinceMs = secondsAgo(90);
  test.each<JudgeCase>([
    {
      name: 'Succeeded, its grace and the minute of its agent over: suspect',
      evidence: { pod: buildPod({ ...done, phase: 'Succeeded' }), finishedSinceMs },
      verdict: suspect('pod-finished'),
    },
    {
      name: 'Failed, its grace and the minute of its agent over: suspect',
      evidence: { pod: buildPod({ ...done, phase: 'Failed' }), finishedSinceMs },
      verdict: suspect('pod-finished'),
    },
    {
      name: 'Succeeded, with Terminating pods left alone: suspect, it has ended',
      evidence: { pod: buildPod({ ...done, phase: 'Succeeded' }), finishedSinceMs },
      settings: { collectsTerminating: false },
      verdict: suspect('pod-finished'),
    },
    {
      name: 'Succeeded, its node lost: free',
      evidence: { pod: buildPod({ ...done, phase: 'Succeeded' }), finishedSinceMs, node: NODE_OUT_OF_SERVICE },
      verdict: free('pod-finished'),
    },
    {
      name: 'Succeeded, its grace over: its agent has a minute',
      evidence: {
        pod: buildPod({ ...done, phase: 'Succeeded', finishedAtMs: WALL_MS - 40_000 }),
        finishedSinceMs: secondsAgo(40),
      },
      verdict: keep('within-grace', 50_000),
    },
    {
      name: 'within its grace: kept',
      evidence: {
        pod: buildPod({ ...done, phase: 'Succeeded', finishedAtMs: WALL_MS - 10_000 }),
        finishedSinceMs: secondsAgo(10),
      },
      verdict: keep('within-grace', 20_000),
    },
    {
      name: 'without finish times, as one evicted before it started: suspect a minute after the grace since it was seen so',
      evidence: {
        pod: buildPod({ phase: 'Failed', isAnyRunning: false }),
        finishedSinceMs: secondsAgo(91),
      },
      verdict: suspect('pod-finished'),
    },
    {
      name: 'without finish times, just seen: kept for its grace',
      evidence: { pod: buildPod({ phase: 'Failed', isAnyRunning: false }), finishedSinceMs: NOW_MS },
      verdict: keep('within-grace', 30_000),
    },
    {
      name: 'by a clock that is a year ahead: its grace counts from when it was seen so',
      evidence: {
        pod: buildPod({ ...done, phase: 'Succeeded', finishedAtMs: WALL_MS + 31_536_000_000 }),
        finishedSinceMs: secondsAgo(20),
      },
      verdict: keep('within-grace', 10_000),
    },
    {
      name: 'with an additional delay: kept that much longer',
      evidence: { pod: buildPod({ ...done, phase: 'Succeeded' }), finishedSinceMs },
      settings: { additionalDelayMs: 65_000 },
      verdict: keep('within-grace', 5_000),
    },
    {
      name: 'on a node that is not Ready: suspect',
      evidence: { pod: buildPod({ ...done, phase: 'Failed' }), finishedSinceMs, node: NODE_NOT_READY },
      verdict: suspect('pod-finished'),
    },
    {
      name: 'Failed, by hand, while a container runs: suspect',
      evidence: { pod: buildPod({ ...done, phase: 'Failed', isAnyRunning: true }), finishedSinceMs },
      verdict: suspect('pod-finished'),
    },
  ])('$name', checkVerdict);
});
