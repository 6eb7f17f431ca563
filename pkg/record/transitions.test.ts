import { describe, expect, test } from 'vitest';
import { type Holder, RECORD_STATES, type RecordSpec, type RecordState } from './ip-record.ts';
import { amendProblem, repairProblem, takeOverProblem } from './transitions.ts';

const UNTIL = '2030-01-01T00:00:00Z';
const { uid: _uid, containerID: _containerID, ...RESTING } = holder();

describe('takeOverProblem', () => {
  const OWN = [
    ['the same holder', {}],
    ['the same holder with a new uid', { uid: 'new', containerID: 'new', node: 'n2' }],
    ['the same holder on another interface', { interface: 'net1' }],
  ] as const satisfies readonly [string, Partial<Holder>][];
  const FOREIGN = [
    ['another kind', { kind: 'VirtualMachineInstance' }],
    ['another namespace', { namespace: 'dev' }],
    ['another name', { name: 'web-1' }],
  ] as const satisfies readonly [string, Partial<Holder>][];

  for (const state of RECORD_STATES) {
    test.each([...OWN])(`${state} by %s`, (_, change) => {
      const problem = takeOverProblem(spec(state), { ...spec('Allocated'), holder: holder(change) });
      expect(problem).toBe(
        state === 'Retained' || state === 'Suspect' ? null : `a record that is ${state} is not taken over`,
      );
    });
    test.each([...FOREIGN])(`${state} by %s`, (_, change) => {
      const problem = takeOverProblem(spec(state), { ...spec('Allocated'), holder: holder(change) });
      expect(problem === null).toBe(state === 'Suspect');
    });
  }

  test.each(RECORD_STATES.filter((state) => state !== 'Allocated'))('never ends as %s', (state) => {
    expect(takeOverProblem(spec('Retained'), spec(state))).toBe(`a take-over ends as Allocated, not as ${state}`);
    expect(takeOverProblem(spec('Suspect'), spec(state))).not.toBeNull();
  });

  test('keeps address and domain, and sets no until', () => {
    expect(takeOverProblem(spec('Suspect'), { ...spec('Allocated'), address: '10.0.0.2' })).toMatch(/address .* never/);
    expect(takeOverProblem(spec('Suspect'), { ...spec('Allocated'), domain: 'blue' })).toMatch(/domain .* never/);
    expect(takeOverProblem(spec('Suspect'), { ...spec('Allocated'), until: UNTIL })).toMatch(/has no until/);
  });
});

describe('amendProblem', () => {
  const PERMITTED: readonly [RecordState, RecordState][] = [
    ['Allocated', 'Allocated'],
    ['Allocated', 'Retained'],
    ['Allocated', 'Cooling'],
    ['Allocated', 'Quarantined'],
    ['Allocated', 'Suspect'],
    ['Suspect', 'Allocated'],
    ['Suspect', 'Suspect'],
    ['Retained', 'Retained'],
    ['Retained', 'Suspect'],
  ];
  const PAIRS = RECORD_STATES.flatMap((before) => RECORD_STATES.map((after) => [before, after] as const));

  test.each(PAIRS)('%s to %s', (before, after) => {
    const isPermitted = PERMITTED.some(([from, to]) => from === before && to === after);
    expect(amendProblem(spec(before), spec(after))).toBe(
      isPermitted ? null : `a record does not go from ${before} to ${after}`,
    );
  });

  test.each<[string, RecordSpec, RecordSpec, string | null]>([
    ['a new container', spec('Allocated'), own({ containerID: 'new' }), null],
    ['attach raised', spec('Allocated'), own({ attachGeneration: 3 }), null],
    ['attach fallen', spec('Allocated'), own({ attachGeneration: 1 }), 'attachGeneration never falls'],
    ['attach fallen on the way back', spec('Suspect'), own({ attachGeneration: 1 }), 'attachGeneration never falls'],
    ['attach raised while Suspect', spec('Suspect'), still({ attachGeneration: 3 }), null],
    ['attach fallen while Suspect', spec('Suspect'), still({ attachGeneration: 1 }), 'attachGeneration never falls'],
    ['another name while Suspect', spec('Suspect'), still({ name: 'web-1' }), 'the record belongs to another holder'],
    [
      'another uid while Suspect',
      spec('Suspect'),
      still({ uid: 'new' }),
      'a Suspect record goes back only to the holder with its uid',
    ],
    ['another kind', spec('Allocated'), own({ kind: 'Container' }), 'the record belongs to another holder'],
    ['another namespace', spec('Allocated'), own({ namespace: 'dev' }), 'the record belongs to another holder'],
    ['another name', spec('Allocated'), own({ name: 'web-1' }), 'the record belongs to another holder'],
    ['another interface', spec('Allocated'), own({ interface: 'net1' }), 'the interface of a holder never changes'],
    [
      'Suspect back with another uid',
      spec('Suspect'),
      own({ uid: 'new' }),
      'a Suspect record goes back only to the holder with its uid',
    ],
    [
      'Suspect back without any uid',
      { ...spec('Suspect'), holder: RESTING },
      { ...spec('Allocated'), holder: RESTING },
      'a Suspect record goes back only to the holder with its uid',
    ],
    [
      'a foreign host',
      spec('Allocated'),
      { ...spec('Quarantined'), holder: { ...RESTING, kind: 'Conflict', name: '02:00:00:00:00:01' } },
      null,
    ],
    [
      'a foreign host while Cooling',
      spec('Allocated'),
      { ...spec('Cooling'), holder: { ...RESTING, kind: 'Conflict' } },
      'the record belongs to another holder',
    ],
    [
      'another address',
      spec('Allocated'),
      { ...spec('Allocated'), address: '10.0.0.2' },
      'the address of a record never changes',
    ],
    [
      'another domain',
      spec('Allocated'),
      { ...spec('Allocated'), domain: 'blue' },
      'the domain of a record never changes',
    ],
    [
      'Cooling without until',
      spec('Allocated'),
      without(spec('Cooling'), 'until'),
      'a record that is Cooling needs a time in until',
    ],
    [
      'Cooling with the uid kept',
      spec('Allocated'),
      { ...spec('Cooling'), holder: holder() },
      'a record that is Cooling has no uid and no containerID',
    ],
    [
      'Retained with until',
      spec('Allocated'),
      { ...spec('Retained'), until: UNTIL },
      'a record that is Retained has no until',
    ],
    ['another IPAllocation of the same machine', ofMachine('vm', 'fixed'), ofMachine('vm', 'vm-eth0'), null],
    [
      'an IPAllocation of another machine',
      ofMachine('vm', 'fixed'),
      ofMachine('other', 'other-eth0'),
      'the record belongs to another holder',
    ],
    [
      'another IPAllocation, where the machine is not known',
      ofMachine(undefined, 'fixed'),
      ofMachine(undefined, 'vm-eth0'),
      'the record belongs to another holder',
    ],
  ])('%s', (_, before, after, problem) => {
    expect(amendProblem(before, after)).toBe(problem);
  });
});

function ofMachine(machine: string | undefined, name: string): RecordSpec {
  const { containerID: _, ...own } = holder({ kind: 'IPAllocation', name, uid: name, interface: '' });
  const owner = { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name: machine ?? '' };
  return { ...spec('Allocated'), holder: machine === undefined ? own : { ...own, owner } };
}

function holder(change: Partial<Holder> = {}): Holder {
  return {
    kind: 'Pod',
    namespace: 'prod',
    name: 'web-0',
    uid: 'u1',
    interface: 'eth0',
    containerID: 'c1',
    attachGeneration: 2,
    node: 'n1',
    ...change,
  };
}

function spec(state: RecordState): RecordSpec {
  const common = {
    address: '10.0.0.1',
    prefix: 24,
    domain: 'default',
    pool: { kind: 'SpiderIPPool', name: 'pool-a', uid: 'p1' },
    state,
  } as const;
  const rests = state === 'Cooling' || state === 'Quarantined';
  return rests ? { ...common, until: UNTIL, holder: RESTING } : { ...common, holder: holder() };
}

function own(change: Partial<Holder>): RecordSpec {
  return { ...spec('Allocated'), holder: holder(change) };
}

function still(change: Partial<Holder>): RecordSpec {
  return { ...spec('Suspect'), holder: holder(change) };
}

function without(spec: RecordSpec, key: 'until'): RecordSpec {
  const { [key]: _, ...rest } = spec;
  return rest;
}

describe('repairProblem', () => {
  const living = { ...spec('Allocated'), holder: { ...holder(), name: 'web-1', uid: 'other', attachGeneration: 9 } };

  test.each(RECORD_STATES)('a record that is %s can be made the one of a living pod', (state) => {
    expect(repairProblem(spec(state), living)).toBeNull();
  });

  test.each<[string, RecordSpec, string]>([
    ['another address', { ...living, address: '10.9.9.9' }, 'the address of a record never changes'],
    ['a state other than Allocated', spec('Suspect'), 'a repair ends as Allocated, not as Suspect'],
    [
      'attach that falls',
      { ...living, holder: { ...living.holder, attachGeneration: 0 } },
      'attachGeneration never falls',
    ],
  ])('%s is no repair', (_, after, problem) => {
    expect(repairProblem(spec('Allocated'), after)).toBe(problem);
  });
});
