import { expect, test, vi } from 'vitest';
import { CLAIMS, CLUSTERS } from '#pkg/kube/objects/capi-resources.ts';
import { failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { ClaimWorld } from '#test/support/claim-world.ts';

const PATIENCE = { timeout: 30_000, interval: 5 };
const NAMES = Array.from({ length: 16 }, (_, at) => `vm-${String(at).padStart(2, '0')}`);
const FULL = expect.stringContaining('False/PoolExhausted');

test.each([
  {
    name: 'its pool is enabled',
    begin: (world: ClaimWorld) => world.pool('lab', ['10.0.0.5'], { disable: true }),
    wake: (world: ClaimWorld) => {
      const spec = { disable: false };
      world.objects.patch(POOLS, { name: 'lab' }, { spec, metadata: { generation: 2 } });
    },
  },
  {
    name: 'its cluster is un-paused',
    begin: (world: ClaimWorld) => {
      world.pool('lab', ['10.0.0.5']);
      world.cluster('blue', true);
    },
    wake: (world: ClaimWorld) => {
      world.objects.patch(CLUSTERS, { namespace: 'prod', name: 'blue' }, { spec: { paused: false } });
    },
  },
])(
  'the oldest of 16 claims has the only address when $name, whichever request is answered first',
  async ({ name, begin, wake }) => {
    const world = new ClaimWorld();
    begin(world);
    await using _leader = world.lead();
    for (const claim of NAMES) world.claim(claim, name.includes('cluster') ? { cluster: 'blue' } : {});
    const isWaiting = (it: string) => world.condition(it).includes('PoolNotReady');
    await vi.waitFor(() => expect(name.includes('cluster') || NAMES.every(isWaiting)).toBe(true), PATIENCE);
    // The requests of the oldest claim are answered after those of the others.
    const others = Promise.withResolvers<void>();
    const seen = new Set<string>();
    world.before = async (call) => {
      seen.add(call.split(' ').at(-1) ?? '');
      if (seen.size >= NAMES.length) others.resolve();
      if (call.endsWith('vm-00')) await others.promise.then(() => new Promise((resolve) => setTimeout(resolve, 50)));
      return undefined;
    };
    wake(world);
    await vi.waitFor(() => expect(world.condition('vm-00')).toBe('True/Ready: 10.0.0.5 of pool lab'), PATIENCE);
    await vi.waitFor(
      () => expect(NAMES.slice(1).map((it) => world.condition(it))).toEqual(NAMES.slice(1).map(() => FULL)),
      PATIENCE,
    );
  },
);

test('a claim whose IPAddress is refused holds no place in the line: the next freed address goes to the next claim', async () => {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5-10.0.0.6']);
  await using _leader = world.lead();
  const [one, two] = [world.claim('one'), world.claim('two')];
  await vi.waitFor(() => expect(world.condition('two')).toContain('True/Ready'), PATIENCE);
  world.claim('a');
  await vi.waitFor(() => expect(world.condition('a')).toEqual(FULL), PATIENCE);
  world.claim('b');
  await vi.waitFor(() => expect(world.condition('b')).toEqual(FULL), PATIENCE);
  world.before = (call) =>
    call === 'create ipaddresses a' ? failure('ServerError', 'failed calling webhook') : undefined;
  world.objects.delete(CLAIMS, one.metadata);
  await vi.waitFor(
    async () => expect(await world.held()).toEqual(expect.arrayContaining([expect.stringContaining('prod/a ')])),
    PATIENCE,
  );
  world.objects.delete(CLAIMS, two.metadata);
  await vi.waitFor(() => expect(world.condition('b')).toContain('True/Ready'), PATIENCE);
});

test('an address whose record could not be made is offered to those in line', async () => {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5']);
  world.pool('other', ['10.0.9.1']);
  await using _leader = world.lead();
  const underWay = Promise.withResolvers<void>();
  world.before = async (call) => {
    if (call !== 'create iprecords 10.0.0.5' || world.countOf(call) > 1) return undefined;
    await underWay.promise;
    // It is not tried again: only a claim that is woken can get the address.
    world.before = (it) => (it === 'get ipaddressclaims first' ? failure('ServerError', 'away') : undefined);
    return new Error('refused');
  };
  world.claim('first');
  await vi.waitFor(() => expect(world.countOf('create iprecords 10.0.0.5')).toBe(1), PATIENCE);
  world.claim('second');
  await vi.waitFor(() => expect(world.condition('second')).toEqual(FULL), PATIENCE);
  // It came later than the event of what was written for the second one, and is served: the second one rests by now.
  world.claim('third', { pool: 'other' });
  await vi.waitFor(() => expect(world.condition('third')).toContain('True/Ready'), PATIENCE);
  underWay.resolve();
  await vi.waitFor(() => expect(world.condition('second')).toContain('True/Ready'), PATIENCE);
});

test('a claim that leaves the scope of this controller leaves the line', async () => {
  const world = new ClaimWorld();
  const label = 'cluster.x-k8s.io/watch-filter';
  world.pool('lab', ['10.0.0.5']);
  await using _leader = world.lead({ namespace: null, watchFilter: 'ours' });
  const mark = (name: string, value: string) =>
    world.objects.patch(CLAIMS, { namespace: 'prod', name }, { metadata: { labels: { [label]: value } } });
  for (const name of ['one', 'a', 'b']) {
    world.claim(name);
    mark(name, 'ours');
    await vi.waitFor(() => expect(world.condition(name)).not.toBe(''), PATIENCE);
  }
  mark('a', 'theirs');
  world.objects.delete(CLAIMS, { namespace: 'prod', name: 'one' });
  await vi.waitFor(() => expect(world.condition('b')).toContain('True/Ready'), PATIENCE);
  expect(world.condition('a')).toEqual(FULL);
});

test('one address, a term that begins, and 16 claims that wait: none of those that go on waiting is written', async () => {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5']);
  {
    await using _first = world.lead();
    for (const name of NAMES) world.claim(name);
    await vi.waitFor(
      () => expect(NAMES.slice(1).map((it) => world.condition(it))).toEqual(NAMES.slice(1).map(() => FULL)),
      PATIENCE,
    );
  }
  world.objects.delete(CLAIMS, { namespace: 'prod', name: 'vm-00' });
  world.recordsMissingForMs = 60_000;
  const before = world.calls.length;
  await using _next = world.lead();
  // The deleted one gives its address back, and the next one in line is held.
  await vi.waitFor(() => expect(world.condition('vm-01')).toContain('False/PoolNotReady'), PATIENCE);
  world.claim('later');
  await vi.waitFor(() => expect(world.condition('later')).toEqual(FULL), PATIENCE);
  const touched = new Set(world.calls.slice(before).filter((it) => it.startsWith('patch ipaddressclaims')));
  expect([...touched].sort()).toEqual(['later', 'vm-00', 'vm-01'].map((it) => `patch ipaddressclaims ${it}`));
});
