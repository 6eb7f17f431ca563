import { expect, test } from 'vitest';
import { describeNetnsOn, readHostIdentity } from '#agent/node/netns-evidence.ts';
import { hostSight, looksFrom } from '#agent/node/netns-look.ts';
import { NetnsLinks } from '#agent/probe/kernel/netns-links.ts';
import { makeNetns } from '#test/support/netns.ts';
import { startIn } from '#test/support/netns-process.ts';
import { mustRun } from '#test/support/run-program.ts';
import { strayThreads } from './probe-lan.ts';

const HOST = readHostIdentity();

/** Each call is a round of its own, on this machine. */
function openEyes() {
  const links = new NetnsLinks();
  const begin = looksFrom(hostSight(HOST, (path, inode) => links.namesIn(path, inode)));
  const describe = describeNetnsOn(HOST);
  return {
    describe,
    look: (holder: ReturnType<typeof describe>) => begin()(holder),
    links,
    [Symbol.dispose]: () => links[Symbol.dispose](),
  };
}

/** Another test may get the inode number of a namespace that is gone, for as long as it runs a program there. */
async function expectGone(look: () => Promise<string>): Promise<void> {
  await expect.poll(look, { timeout: 60_000, interval: 100 }).toBe('gone');
}

test('a namespace is bare until it has a link, then there, and gone with its path', async () => {
  using eyes = openEyes();
  await using netns = await makeNetns();
  const seen = eyes.describe(netns.path);
  expect(seen).toMatchObject({ netns: netns.path, netnsInode: expect.any(Number), ...HOST });
  expect(await eyes.look(seen)).toBe('bare');
  await netns.must('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
  expect(eyes.links.namesIn(netns.path, seen.netnsInode ?? 0)?.toSorted()).toEqual(['eth0', 'eth1', 'lo']);
  expect(await eyes.look(seen)).toBe('there');
  await netns.remove();
  await expectGone(() => eyes.look(seen));
  expect(strayThreads()).toEqual([]);
});

test('a namespace whose path was removed is there while a process runs in it', async () => {
  using eyes = openEyes();
  await using netns = await makeNetns();
  const seen = eyes.describe(netns.path);
  {
    await using _process = await startIn(netns);
    await netns.remove();
    expect(await eyes.look(seen)).toBe('there');
  }
  await expectGone(() => eyes.look(seen));
});

test('a path that was made again shows another namespace, while the old one lives on in a process', async () => {
  using eyes = openEyes();
  await using netns = await makeNetns();
  const seen = eyes.describe(netns.path);
  {
    await using _process = await startIn(netns);
    await netns.remove();
    await mustRun('ip', 'netns', 'add', netns.name);
    expect(eyes.describe(netns.path).netnsInode).not.toBe(seen.netnsInode);
    expect(eyes.links.namesIn(netns.path, seen.netnsInode ?? 0)).toBeNull();
    expect(await eyes.look(seen)).toBe('there');
  }
  await expectGone(() => eyes.look(seen));
});

test('a namespace that is named by a process is gone with the process, also if its number is used again', async () => {
  using eyes = openEyes();
  await using netns = await makeNetns();
  const path = `/proc/${process.pid}/ns/net`;
  const { netnsInode = 0 } = eyes.describe(netns.path);
  expect(eyes.describe(path)).toMatchObject({ netns: path, netnsInode: expect.any(Number) });
  await netns.remove();
  // The number belongs to this process now, which is in another namespace.
  await expectGone(() => eyes.look({ netns: path, netnsInode, ...HOST }));
});

test('a process that may not look at others says that it cannot tell', async () => {
  await using netns = await makeNetns();
  const room = new URL('../../agent/node', import.meta.url).pathname;
  const script = `
    import { hostSight, looksFrom } from '${room}/netns-look.ts';
    console.log(await looksFrom(hostSight({ bootID: 'b' }))()({ netns: '${netns.path}-of-nobody', netnsInode: 7, bootID: 'b' }));
  `;
  const node = [process.execPath, '--input-type=module-typescript', '--eval', script];
  const without = ['--bounding-set', '-sys_ptrace', '--inh-caps', '-sys_ptrace'];
  expect(await mustRun('setpriv', ...without, ...node)).toBe('unclear\n');
});
