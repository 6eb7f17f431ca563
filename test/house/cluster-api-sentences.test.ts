import { expect, test } from 'vitest';
import { readTestNames } from './test-names.ts';

const CONTRACT = 'claims-contract';
const CLAIMS = 'claims';

/** Every sentence of the IPAM provider contract of Cluster API that asks for something, and the test that holds it. */
const SENTENCES: readonly (readonly [sentence: string, file: string, test: string])[] = [
  ['The IPAM provider is responsible for handling the IP addresses', CONTRACT, 'The IPAM provider is responsible'],
  ['IPAM providers are optional when using Cluster API', CONTRACT, 'IPAM providers are optional'],
  ['The IPAM contract is single-stack', CONTRACT, 'The contract is single-stack'],
  ['An IPAM provider must define one or more API types', CONTRACT, 'must define one or more API types'],
  ['Types 1: must belong to an API group served', CLAIMS, '1. The pool type belongs to an API group that is served'],
  ['Types 2: must be a CRD with the calculated name', CLAIMS, '2. it is a CRD named plural(lowercase kind) and group'],
  ['Types 3: must have type and object metadata', CLAIMS, '3. It has type and object metadata'],
  ['Types 4: should have status.conditions', CLAIMS, '4. its status has conditions, Ready among them'],
  ['Types 4.1: Ready is the overall operational state', CONTRACT, '4.1 A Ready condition represents the overall'],
  ['Types 4.1: it can be a summary of others', CONTRACT, '4.1 Ready can be based on the summary'],
  ['Must handle any claim of its pools', CONTRACT, 'It must handle any claim that references a pool of its own'],
  ['Must watch for new, updated and deleted claims', CONTRACT, 'must watch for new, updated and deleted claims'],
  ['Must watch for updated claims', CONTRACT, 'It must watch for updated claims'],
  ['Normal 1: not our pool, abort', CLAIMS, '1. If the claim does not reference a pool managed by the provider'],
  ['Normal 2.1: the Cluster by spec.clusterName', CLAIMS, '2.1 The Cluster is referenced by spec.clusterName'],
  ['Normal 2.1: or by the label', CLAIMS, '2.1 or by the label'],
  ['Normal 2.2: not paused, continue', CONTRACT, '2.2 If the paused field is empty'],
  ['Normal 2.3: the cluster is not found, abort', CLAIMS, '2.3 if it is not found, abort'],
  ['Normal 2, 2.4: the cluster is paused, skip', CLAIMS, '2.4 If the cluster is paused by $name, skip'],
  ['Normal 3: add finalizers', CONTRACT, '3. Add any required provider-specific finalizers'],
  ['Normal 4: allocate', CONTRACT, '4. Allocate an IP address for the claim'],
  ['Normal 5, 5.1: create an IPAddress of the same name', CONTRACT, '5.1 Create an IPAddress object'],
  ['Normal 5.2: owner reference to the claim', CONTRACT, '5.2 It must have a owner reference with controller: true'],
  ['Normal 5.3: owner reference to the pool', CONTRACT, '5.3 It must have a owner reference with controller: false'],
  ['Normal 5.4: finalizer of the IPAddress', CONTRACT, '5.4 It should have a Finalizer'],
  ['Normal 6: status.addressRef', CONTRACT, '6. Set the status.addressRef on the IPAddressClaim'],
  ['Deleted 1: the cluster is paused, abort', CLAIMS, '1. If the related Cluster is paused, abort'],
  ['Deleted 2: deallocate', CONTRACT, '2. Deallocate the IP address'],
  ['Deleted 3: delete the IPAddress', CONTRACT, '3. Delete the IPAddress object'],
  ['Deleted 3.1: remove its finalizers', CONTRACT, '3.1 remove any Finalizers'],
  ['Deleted 4: remove the finalizer of the claim', CONTRACT, '4. Remove the Finalizer from the claim, last of all'],
  ['Move: pools need the label cluster-name', CONTRACT, 'In order for Pools to be moved alongside clusters'],
  ['Infrastructure 1: create a claim', CONTRACT, '1. Create an IPAddressClaim'],
  ['Infrastructure 1.1 to 1.4: pool, owner, cluster, name', CONTRACT, '1.1 to 1.4 The claim of the fixture'],
  ['Infrastructure 2: wait until an IP is allocated', CONTRACT, '2. wait for status.addressRef by watching the claim'],
  ['Infrastructure 3: fetch the IPAddress', CONTRACT, '3. fetch the IPAddress that it names'],
  ['When the machine is deleted, the claim should be, too', CONTRACT, 'When the infrastructure Machine is deleted'],
  ['The deletion of the machine should be blocked', CONTRACT, 'The deletion of the machine is blocked'],
];

test.each(SENTENCES)('%s', (_sentence, file, part) => {
  const names = readTestNames(`test/integration/${file}.test.ts`).map(({ name }) => name);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => name.includes(part))).toHaveLength(1);
});
