import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startApiServer } from '#test/support/api-server.ts';
import { change, follow } from './kube-follow.ts';
import { clientOf, installThings } from './kube-things.ts';

/** Concurrent, because each test has its own server, and mostly waits. */
async function stand() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startApiServer());
  const admin = stack.use(clientOf(server));
  await installThings(admin);
  await change(admin, 'early');
  const followed = stack.use(await follow(stack.use(clientOf(server)), admin));
  const everything = stack.move();
  return { server, admin, followed, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

describe.concurrent('a watch', () => {
  test.each([{ seconds: 8 }, { seconds: 30 }])('catches up after an outage of $seconds s', async ({ seconds }) => {
    await using stood = await stand();
    const { server, admin, followed } = stood;
    const before = followed.events.length;
    await server.kill();
    await wait(seconds * 1_000);
    expect(followed.events).toHaveLength(before);
    expect(followed.troubles.length).toBeGreaterThan(2);
    expect(followed.troubles.length).toBeLessThan(10 + seconds);
    await server.restart();
    await change(admin, 'late');
    await followed.becomesCurrent();
  });

  test('does not reconnect after 35 s without events', async () => {
    await using stood = await stand();
    const { server, admin, followed } = stood;
    const watches = () => server.requestCount({ verb: 'WATCH', resource: 'things' });
    const before = await watches();
    await wait(35_000);
    await change(admin, 'after-silence');
    await followed.becomesCurrent();
    expect(followed.troubles).toEqual([]);
    expect(followed.syncs()).toBe(1);
    expect(await watches()).toBe(before);
  });
});
