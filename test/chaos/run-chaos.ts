import { setTimeout as sleep } from 'node:timers/promises';
import { type ChaosSite, startChaosSite } from './chaos-site.ts';
import { Faults } from './faults.ts';
import { Random } from './fuzz-random.ts';
import { MachineReferee } from './machine-referee.ts';
import { installMachines } from './machine-site.ts';
import { Referee } from './referee.ts';
import { Sandboxes } from './sandboxes.ts';
import { findDisorder } from './settled.ts';
import { SimClaims } from './sim-claims.ts';
import { SimControllers } from './sim-controllers.ts';
import { SimGarbage } from './sim-garbage.ts';
import { SimKubelet } from './sim-kubelet.ts';
import { SimNetworks } from './sim-networks.ts';
import { SimOperator } from './sim-operator.ts';
import { SimRuntime } from './sim-runtime.ts';
import { SimWorkloads } from './sim-workloads.ts';
import { Wire } from './wire.ts';

export interface ChaosWish {
  readonly seed: number;
  /** The time with faults; the time to settle is added. */
  readonly seconds: number;
  /** On a slow machine faults go on until as much as this was done, but at most ten times as long. */
  readonly atLeast?: Partial<ChaosCounts>;
  readonly settleSeconds: number;
  readonly say: (line: string) => void;
}

export interface ChaosCounts {
  readonly adds: number;
  readonly addsFromSubnet: number;
  /** Applications that moved to another subnet, got another size, a typo, or its repair. */
  readonly changedAsks: number;
  /** Claims and IPAllocations that had an address. */
  readonly claims: number;
  readonly allocations: number;
  readonly looks: number;
  readonly acts: number;
}

export interface ChaosOutcome extends ChaosCounts {
  /** Violations, each with the history of its address; empty means success. */
  readonly complaints: readonly string[];
  readonly faults: ReadonlyMap<string, number>;
  readonly byTheOperatorsWord: number;
  readonly contested: number;
}

/** The seed decides which faults happen, in which order and how long; their effects depend on the speed of the machine. */
export async function runChaos({ seed, seconds, atLeast = {}, settleSeconds, say }: ChaosWish): Promise<ChaosOutcome> {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(await startChaosSite({ install: installMachines }));
  const { api, server, controllers } = site;
  // One random stream per part, so that the decisions of one part do not depend on the number of decisions of another.
  let streams = 0;
  const random = () => new Random(seed * 1_000 + streams++);
  const sandboxes = new Sandboxes();
  const wire = stack.use(await Wire.open());
  const nodes = site.nodes.map(({ name, agent, place }) => {
    const runtime = new SimRuntime({ node: name, agent: place, wire, sandboxes, random: random() });
    return { name, agent, runtime, kubelet: stack.use(new SimKubelet({ node: name, runtime, api, random: random() })) };
  });
  const kubelets = nodes.map(({ kubelet }) => kubelet);
  const readyNodes = () => kubelets.filter(({ isFrozen }) => !isFrozen).map(({ node }) => node);
  const workloads = new SimWorkloads({ api, random: random(), sandboxes, readyNodes });
  const referee = stack.use(new Referee(api, sandboxes));
  const machines = stack.use(new MachineReferee(api, sandboxes));
  stack.use(new SimGarbage(api));
  stack.use(new SimOperator(api, sandboxes));
  const agents = site.nodes.map(({ agent }) => agent);
  const faults = new Faults({ server, api, nodes, controllers, sandboxes, random: random() });
  say(`chaos with seed ${seed} for ${seconds} s`);

  let acts = 0;
  const counts = (): ChaosCounts => ({
    adds: sandboxes.raised,
    addsFromSubnet: sandboxes.raisedFromSubnet,
    changedAsks: workloads.changedAsks,
    claims: machines.count('IPAddressClaim'),
    allocations: machines.count('IPAllocation'),
    looks: referee.looks + machines.looks,
    acts,
  });
  const startedMs = performance.now();
  const endsMs = startedMs + seconds * 1_000;
  const isShort = () => {
    const now = counts();
    return Object.entries(atLeast).some(([name, least]) => now[name as keyof ChaosCounts] < least);
  };
  const isTime = (nowMs: number) => nowMs < endsMs || (isShort() && nowMs < startedMs + seconds * 10_000);
  const goesOn = () => sandboxes.violations.length === 0 && isTime(performance.now());
  const users = async (dice: Random) => {
    while (goesOn()) {
      const what = dice.isOneIn(5) ? onSomeKubelet(kubelets, dice) : await workloads.act().catch(() => null);
      if (what !== null) acts += 1;
      await sleep(100 + dice.below(500));
    }
  };
  const usersOfMachines = async (some: { act(): Promise<string> }, dice: Random) => {
    while (goesOn()) {
      if ((await some.act().catch(() => null)) !== null) acts += 1;
      await sleep(400 + dice.below(1_200));
    }
  };
  const fate = async (dice: Random) => {
    await sleep(3_000);
    while (goesOn()) {
      const name = faults.strike();
      if (name !== null) say(`${((performance.now() - startedMs) / 1_000).toFixed(0)} s: ${name}`);
      await sleep(500 + dice.below(3_500));
    }
  };
  const [usersDice, fateDice] = [random(), random()];
  const machineUsers = [new SimClaims(api, random()), new SimNetworks(api, random())];
  const ofMachines = machineUsers.map((it) => usersOfMachines(it, random()));
  const kubernetes = stack.use(new SimControllers({ api, random: random(), readyNodes }));
  await Promise.all([users(usersDice), fate(fateDice), ...ofMachines]);
  await faults.heal();
  for (const mortal of [...agents, ...controllers]) mortal.start();
  for (const it of [workloads, ...machineUsers]) await untilDone(() => it.calmDown());

  const disorder = sandboxes.violations.length > 0 ? [] : await settle(settleSeconds);
  // Those that got their address at the very end count too.
  await machines.look().catch(() => {});
  const violations = sandboxes.violations.slice(0, 3).map(({ address, what }) => `${address}: ${what}`);
  const complaints = [...violations, ...disorder].map((line) => withStory(line, site, sandboxes));
  const { byTheOperatorsWord, contested } = sandboxes;
  return { ...counts(), complaints, faults: faults.counts, byTheOperatorsWord, contested };

  async function settle(limitSeconds: number): Promise<string[]> {
    const startedMs = performance.now();
    for (;;) {
      const disorder = await look().catch((thrown: Error) => [`the API server does not answer: ${thrown.message}`]);
      const seconds = (performance.now() - startedMs) / 1_000;
      if (sandboxes.violations.length > 0) return [];
      if (disorder.length === 0) say(`everything settled after ${seconds.toFixed(0)} s`);
      if (disorder.length === 0 || seconds > limitSeconds) return disorder;
      await sleep(500);
    }
  }

  async function look(): Promise<string[]> {
    const waiting = kubelets.flatMap((kubelet) => kubelet.waiting());
    if (waiting.length > 0) return [`without an address: ${waiting}`];
    if (!(await kubernetes.isComplete())) return ['workloads are not complete'];
    return await findDisorder(api, sandboxes);
  }
}

async function untilDone(act: () => Promise<void>): Promise<void> {
  const isDone = () =>
    act().then(
      () => true,
      () => false,
    );
  while (!(await isDone())) await sleep(500);
}

function onSomeKubelet(kubelets: readonly SimKubelet[], dice: Random): string {
  const kubelet = dice.pick(kubelets);
  if (dice.isOneIn(3)) kubelet.finishSome();
  else kubelet.restartSome();
  return kubelet.node;
}

/** With what is known of the addresses and machines that it names. */
function withStory(complaint: string, { nodes, controllers }: ChaosSite, sandboxes: Sandboxes): string {
  const subjects = new Set(complaint.match(/\b(10\.6[0-5]\.0\.\d+|machines\/[a-z0-9-]+)\b/g) ?? []);
  const stories = [...subjects]
    .slice(0, 3)
    .flatMap((subject) => [
      `--- ${subject}`,
      ...sandboxes.story(subject),
      ...[...nodes.map(({ agent }) => agent), ...controllers].flatMap((mortal) =>
        mortal.linesAbout(subject).map((line) => `${mortal.name}: ${line}`),
      ),
    ]);
  return [complaint, ...stories].join('\n');
}
