import { describe, expect, test } from 'vitest';
import { countTests, type Held } from './test-names.ts';

const at = (name: string) => `test/integration/${name}.test.ts`;
const COMPOSED = at('auto-pools-composed');
const DOCUMENTED = at('auto-pools-documented');
const FAULTS = at('auto-pools-faults');
const INPUT = at('auto-pools-input');
const KINDS = at('auto-pools-kinds');
const LIVES = at('auto-pools-lives');
const SHRUNK = at('auto-pools-shrunk');
const ANNOTATIONS = at('agent-annotations');
const ADMISSION = at('admission');
const AGENT = at('agent-auto-pools');
const KEEP = at('keep-pools');
const RULES = 'test/contract/documented-rules.test.ts';
const CALLS = 'agent/allocate/auto-pools.test.ts';
const PLAN = 'controller/allot/plan-auto-pools.test.ts';

const OVERRIDES =
  'a subnet overrides every other source of pools: ippools, ippool, namespace, CNI configuration, default pool';
const AS_SPIDERPOOL =
  'an application names a subnet, and its pool is made as Spiderpool makes it, grown, shrunk and taken back';
const SHARED =
  'applications that name one subnet share it, each with a pool of its own: a full one takes no address of another';
const BAD_SUBNET = 'a subnet that %s: an Event on the application, no pool, and nobody else waits';

/** The rules about subnets of Spiderpool's page "IP Allocation" (seed 000), in our words and in its order. */
const ALLOCATION: readonly Held[] = [
  [
    'The annotation subnets makes a pod use a pool that was made for it',
    KINDS,
    'several interfaces and both families: a pool for each, and one that cannot grow holds up no other',
  ],
  [
    'The annotation subnet does',
    COMPOSED,
    'pods wait for the pool of their Deployment, get its addresses as it grows, and it shrinks and goes as they leave',
  ],
  ['Of the two, subnets counts', RULES, '$name', 'SpiderSubnet annotation, several interfaces'],
  [
    'Where SpiderSubnet is off, neither is looked at',
    ANNOTATIONS,
    'a subnet is not looked at where SpiderSubnet is off',
  ],
  [
    'Where no pools are made for applications, a pod that names a subnet is refused',
    ANNOTATIONS,
    'a subnet where no pools are made for applications is refused by the name of its annotation',
  ],
  ['A subnet overrides all that is below it', DOCUMENTED, OVERRIDES],
  [
    'also while its pool is not there: nothing below it is used meanwhile',
    ANNOTATIONS,
    'a subnet before everything else: the pod waits for the pool of its application, and takes no other',
  ],
  [
    'Below it: the default pools of the CNI configuration, then of the cluster',
    ANNOTATIONS,
    'the CNI configuration before default pools',
  ],
  ['Filter: a pool that is terminating', CALLS, 'waits while its pool $name', 'is being deleted'],
  ['Filter: a pool that is disabled', CALLS, 'is refused at once where an administrator has disabled its pool'],
  [
    'Filter: node, of pools inside of subnets',
    DOCUMENTED,
    'replicas of one application on nodes of two networks have addresses of two subnets',
  ],
  [
    'Filter: podAffinity, by which a pool is for the pods of its application alone',
    AGENT,
    'and $name gets no address of its pool',
  ],
  ['Filter: a pool that is exhausted', AGENT, 'waits while its pool is full, until the pool grows'],
  ['Order: the podAffinity that such a pool has is the highest', RULES, '$name', 'podAffinity is highest'],
  [
    'No address that is excluded or reserved',
    DOCUMENTED,
    'no pool made from a subnet has its excluded or reserved addresses, or its gateway',
  ],
  ['No address that was reserved later', PLAN, '$name', 'a reserved address of a pool is replaced'],
  [
    'A pod of a StatefulSet has its last address again',
    DOCUMENTED,
    'a pod of a StatefulSet that starts again, also on another node, has the address that it had in the pool of its set',
  ],
];

/** The same of its page "IPAM" (seed 001). */
const CONCEPTS: readonly Held[] = [
  ['Underlay 1: an address may be on any node', DOCUMENTED, SHARED],
  [
    'Underlay 2: replicas of one application may have addresses of several subnets',
    DOCUMENTED,
    'replicas of one application on nodes of two networks have addresses of two subnets',
  ],
  [
    'Underlay 3: the pods of a Deployment stay within one set of addresses',
    at('auto-pools-rollout'),
    'a rollout with maxSurge in a pool that fits exactly: each new pod waits for the address of an old one',
  ],
  [
    'Underlay 3: a pod of a StatefulSet has one address',
    DOCUMENTED,
    'a pod of a StatefulSet that starts again, also on another node, has the address that it had in the pool of its set',
  ],
  [
    'Underlay 4: the interfaces of a pod have addresses of several subnets',
    AGENT,
    'both families, and another interface from another pool',
  ],
  [
    'Underlay 6: what is given back can be had again',
    FAULTS,
    '30 applications on 150 addresses, half scaled up and half down, all deleted: the subnet is whole again',
  ],
  ['1st priority: the subnet annotation', DOCUMENTED, OVERRIDES],
  [
    'A SpiderSubnet is a collection of addresses',
    at('project-subnets'),
    'the status of a subnet follows its pools, and is repaired',
  ],
  ['An administrator writes addresses and routes once, for all applications', at('auto-pools'), AS_SPIDERPOOL],
  ['A pool is made from the subnet without anybody else', at('auto-pools'), AS_SPIDERPOOL],
  [
    'for every kind of application',
    KINDS,
    'every kind of Kubernetes that makes pods gets one pool, with as many addresses as it wants pods',
  ],
  [
    'for applications of other kinds',
    at('auto-pools-owners'),
    'an application of another kind gets its pool once the controller may read it, and an Event says so before',
  ],
  [
    'and its addresses are fixed: no other pod gets them',
    CALLS,
    'gets an address of the pool of its application, and of no other',
  ],
  ['Which addresses of the subnet a pool gets', PLAN, '$name', 'the smallest interval that fits'],
  ['The addresses of a subnet may be in several pools', DOCUMENTED, SHARED],
  [
    'No address is in two: pools of applications',
    FAULTS,
    'two leaders at once make one pool for each application, and no address is in two',
  ],
  [
    'No address is in two: pools that somebody wrote',
    ADMISSION,
    'of 20 pools with one range created at once exactly one is stored',
  ],
  [
    'No address is in two: one of each',
    FAULTS,
    'of an auto pool and a manual pool over the same range, made in the same instant, one wins and the other is planned again',
  ],
  ['No two subnets have an address in common', ADMISSION, 'of six equal subnets created at once exactly one is stored'],
  [
    'A pool that somebody writes inside of a subnet belongs to it',
    ADMISSION,
    'a pool of a subnet belongs to it and takes gateway and routes from it',
  ],
  [
    'also one that was there before the subnet',
    KEEP,
    'a pool that is older than its subnet comes under it, with its gateway',
  ],
  [
    'A pool is as large as what it is for',
    FAULTS,
    'scale 5, 50, 5, 0, 5 in seconds while records come and go: no address in two pools, none outside at the end',
  ],
  ['Applications share a subnet and stay apart', DOCUMENTED, SHARED],
  [
    'Collection: a pool with addresses in use cannot be deleted',
    ADMISSION,
    'of a pool in use is refused, and succeeds after the last address is released',
  ],
  [
    'Collection: nothing is given out of a pool that is being deleted',
    CALLS,
    'waits while its pool $name',
    'is being deleted',
  ],
  [
    'Collection: the finalizer stays until every address is free',
    KEEP,
    'a deleted pool stays while an address of it is held in any state, and is removed after the last one',
  ],
  ['Collection: the same of a subnet and its pools', KEEP, 'a deleted subnet is removed when its last pool is gone'],
];

/** What may happen to pools of applications, each on a real API server. */
const ACCIDENTS: readonly Held[] = [
  [
    'The leader is killed between two pools of one application',
    FAULTS,
    'a leader is killed between two pools of one application, and the next one makes the other',
  ],
  [
    'Two leaders for a moment',
    FAULTS,
    'two leaders at once make one pool for each application, and no address is in two',
  ],
  [
    'A manual pool in the same instant over the same range',
    FAULTS,
    'of an auto pool and a manual pool over the same range, made in the same instant, one wins and the other is planned again',
  ],
  [
    'which no webhook refused',
    SHRUNK,
    'a pool that somebody made over the range of an auto pool, which no webhook refused: the auto pool gets others',
  ],
  [
    'Scale 5, 50, 5, 0, 5',
    FAULTS,
    'scale 5, 50, 5, 0, 5 in seconds while records come and go: no address in two pools, none outside at the end',
  ],
  [
    'A rollout with maxSurge in a pool that fits exactly',
    at('auto-pools-rollout'),
    'a rollout with maxSurge in a pool that fits exactly: each new pod waits for the address of an old one',
  ],
  [
    'A subnet is shrunk or deleted under its pools: refused',
    SHRUNK,
    'a subnet cannot lose the ranges of its pools, nor be deleted under them',
  ],
  [
    'A subnet is shrunk under its pools all the same',
    SHRUNK,
    'a subnet that shrank under its pools all the same: unused addresses are replaced, used ones stay until they are given back',
  ],
  [
    'A subnet is deleted under its pools all the same',
    SHRUNK,
    'a subnet that is being deleted under its pools keeps them, gives nothing more, and goes with the last',
  ],
  ['A subnet that does not exist', INPUT, BAD_SUBNET, 'does not exist'],
  ['A subnet that exists later', INPUT, 'a subnet that is created after its application'],
  ['A subnet of the wrong family', INPUT, BAD_SUBNET, 'is of the wrong family'],
  ['The same subnet twice', INPUT, BAD_SUBNET, 'is on two interfaces'],
  ['The same interface twice', INPUT, BAD_SUBNET, 'is one of two for the same interface'],
  ['A subnet with a name of 253 characters', INPUT, BAD_SUBNET, 'has a name of 253 characters'],
  [
    'An interface with a name of 253 characters',
    INPUT,
    BAD_SUBNET,
    'is for an interface with a name of 253 characters',
  ],
  [
    'Applications with names of 253 characters that differ only after the cut',
    INPUT,
    'names of 253 characters that differ only in the last one have a pool each',
  ],
  [
    'A pool of somebody has the name',
    at('auto-pools-identity'),
    'somebody made a pool of the name that the pool of an application would have: it gets its other name, under every leader',
  ],
  [
    'The name is used again with another uid',
    LIVES,
    'an application of the same name after a deleted one has a pool of its own; the old one goes with its last address',
  ],
  [
    'The uid is there again',
    at('auto-pools-identity'),
    'a deleted application is there again with its old uid, as after a restore of etcd: it has one pool, at once and with its old addresses',
  ],
  [
    'The uid is repeated by a pod',
    AGENT,
    'a pod that repeats the uid of a deleted application gets no address of its pool, though one of that name is there again',
  ],
  [
    'The CRD of a third-party owner is removed and installed again',
    LIVES,
    "the CRD of a third party's applications is removed and installed again: nothing is freed",
  ],
  [
    'An application is deleted while the controller is away',
    LIVES,
    'an application is deleted while no controller runs: what is held stays, the rest goes',
  ],
  [
    '30 applications with 5 addresses each on 150',
    FAULTS,
    '30 applications on 150 addresses, half scaled up and half down, all deleted: the subnet is whole again',
  ],
];

describe.each([
  { list: 'the page on allocation', rules: ALLOCATION },
  { list: 'the page on IPAM', rules: CONCEPTS },
  { list: 'faults and bad input', rules: ACCIDENTS },
])('$list', ({ rules }) => {
  test.for(rules)('%s', ([, file, name, row]) => {
    expect(countTests(file, name, row)).toBe(1);
  });
});

test('what may happen is tried on a real API server', () => {
  for (const [, file] of ACCIDENTS) expect(file).toMatch(/^test\/integration\//);
});
