import { readdir, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { makeNetns, removeLeftoverNetns } from './netns.ts';
import { tagOfThisRun } from './run-owner.ts';
import { mustRun } from './run-program.ts';

const names = () => readdir('/var/run/netns');

test('a namespace exists as long as its scope and is not the one of this process', async () => {
  let name: string;
  {
    await using netns = await makeNetns();
    name = netns.name;
    const [theirs, ours] = await Promise.all([stat(netns.path), stat('/proc/self/ns/net')]);
    expect(theirs.ino).not.toBe(ours.ino);
    expect(await netns.must('ip', '-brief', 'address')).toMatch(/^lo\s+UNKNOWN\s+127\.0\.0\.1\/8/);
  }
  expect(await names()).not.toContain(name);
});

test('links that are created inside are not visible outside', async () => {
  await using netns = await makeNetns();
  await netns.must('ip', 'link', 'add', 'ipl-probe0', 'type', 'bridge');
  expect(await mustRun('ip', '-brief', 'link')).not.toContain('ipl-probe0');
});

test('namespaces that are created at once have different names', async () => {
  const made = await Promise.all(Array.from({ length: 5 }, makeNetns));
  expect(new Set(made.map(({ name }) => name)).size).toBe(5);
  for (const netns of made) await netns.remove();
});

test('removing twice is no error', async () => {
  await using netns = await makeNetns();
  await netns.remove();
  expect(await names()).not.toContain(netns.name);
});

test('a sweep removes the namespaces of a dead run, and no others', async () => {
  await using living = await makeNetns();
  const [pid, startTime] = (await tagOfThisRun()).split('-');
  const earlierUseOfThePid = `ipl-${pid}-${Number(startTime) - 1}-1`;
  const foreign = `other-${pid}-${startTime}`;
  await mustRun('ip', 'netns', 'add', earlierUseOfThePid);
  await mustRun('ip', 'netns', 'add', foreign);
  try {
    await removeLeftoverNetns();
    const left = await names();
    expect(left).not.toContain(earlierUseOfThePid);
    expect(left).toEqual(expect.arrayContaining([living.name, foreign]));
  } finally {
    await mustRun('ip', 'netns', 'delete', foreign);
  }
});
