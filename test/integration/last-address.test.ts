import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { serveClaims } from '#controller/claims/serve-claims.ts';
import { serveVitistack } from '#controller/vitistack/serve-vitistack.ts';
import { CLAIMS } from '#pkg/kube/objects/capi-resources.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { IP_ALLOCATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { describeHolder } from '#pkg/record/ip-record.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { installCapi } from '#test/support/capi-crds.ts';
import { type AllocationStage, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { claimOf, readyOf } from './claim-stage.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { poolOf, sure } from './spider-objects.ts';

const ADDRESS = '10.0.2.5';
const ROUNDS = 200;
const LEAST_WINS = 20;
/** 200 rounds on a machine that has much else to do. */
const LONG_MS = 1_800_000;

let stage: AllocationStage;

beforeAll(async () => {
  stage = await startAllocationStage();
  await installCapi(stage.cluster.server);
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Serves claims and allocations at once, as the leader does. */
function lead(): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const client = stage.cluster.controller();
  const context = {
    client,
    ...stack.use(watchAsLeader(client)),
    log: silent,
    now: () => new Date(),
    isLeader: () => true,
    ledger: openKubernetesLedger(client),
    events: { emit: () => {} },
    lookEveryMs: 500,
  };
  stack.use(serveClaims(context));
  stack.use(
    serveVitistack({
      ...context,
      rangeRules: { floor: 2 },
      providerSettings: { isStrict: false },
      isAdopted: async () => true,
    }),
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test(
  'a pod, a claim and an allocation race for the last address: one has it, and the others say so',
  async () => {
    await sure(stage.admin.create(POOLS, poolOf('lab', { subnet: '10.0.2.0/24', ips: [ADDRESS] })));
    await stage.network('prod-network', { ipv4RangeStart: ADDRESS, ipv4RangeEnd: ADDRESS });
    await stage.configuration('vm');
    await using _leader = lead();
    const wins = { Pod: 0, IPAddressClaim: 0, IPAllocation: 0 };
    // Who wins starts later from then on, by a share of what it was: so all three win, however fast or slow the machine is.
    const delayMs = { Pod: 60, IPAddressClaim: 0, IPAllocation: 0 };
    const after = async <T>(who: keyof typeof delayMs, start: () => Promise<T>) => {
      await wait(Math.random() * delayMs[who]);
      return start();
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `vm-${round}`;
      const [pod, claim, allocation] = await Promise.all([
        after('Pod', () => stage.ledger.create(specOf(ADDRESS))),
        after('IPAddressClaim', () => sure(stage.admin.create(CLAIMS, claimOf(name, { namespace: NAMESPACE })))),
        after('IPAllocation', () =>
          stage.allocation(name, { configuration: 'vm', spec: { requestedAddress: ADDRESS } }),
        ),
      ]);
      const record = await vi.waitFor(async () => {
        const [first, ...others] = await stage.ledger.list({ limit: 10 });
        expect(others).toEqual([]);
        return first ?? expect.unreachable();
      }, PATIENCE);
      const winner = record.spec.holder.kind as keyof typeof wins;
      const holder = describeHolder(record);
      wins[winner] += 1;
      for (const who of ['Pod', 'IPAddressClaim', 'IPAllocation'] as const) {
        delayMs[who] = who === winner ? delayMs[who] * 1.5 + 10 : delayMs[who] * 0.75;
      }
      if (winner === 'Pod') expect(pod.taken).toBe(true);
      else expect(pod).toMatchObject({ taken: false, record: { name: ADDRESS, spec: { holder: record.spec.holder } } });
      if (winner === 'IPAllocation') expect(await stage.served(name)).toMatchObject({ address: ADDRESS });
      else expect(await stage.says(name, 'Error')).toBe(`conflict: ${ADDRESS} is held by ${holder}`);
      await vi.waitFor(async () => {
        const { reason, message } = readyOf(await sure(stage.admin.get(CLAIMS, { namespace: NAMESPACE, name })));
        if (winner === 'IPAddressClaim') expect(reason).toBe('Ready');
        else
          expect(`${reason}: ${message}`).toMatch(/^PoolExhausted: pool lab is exhausted: 1\/1 addresses are in use/);
        if (winner !== 'IPAddressClaim') expect(message).toContain(`(${ADDRESS} by ${holder})`);
      }, PATIENCE);

      // Those that wait first: the address must not go from one to the other.
      const ends = [
        { who: 'IPAddressClaim', end: () => stage.remove(claim, CLAIMS) },
        { who: 'IPAllocation', end: () => stage.remove(allocation) },
      ];
      for (const { end } of ends.toSorted((a, b) => Number(a.who === winner) - Number(b.who === winner))) await end();
      if (pod.taken) await stage.ledger.release(pod.record);
      await vi.waitFor(async () => {
        expect(await stage.records()).toEqual([]);
        for (const kind of [CLAIMS, IP_ALLOCATIONS]) {
          expect(await stage.admin.get(kind, { namespace: NAMESPACE, name })).toMatchObject({ because: 'NotFound' });
        }
      }, PATIENCE);
    }
    for (const count of Object.values(wins)) expect(count).toBeGreaterThanOrEqual(LEAST_WINS);
  },
  LONG_MS,
);
