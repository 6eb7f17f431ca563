import { expect, test } from 'vitest';
import { readRootFile } from './source-files.ts';

type Row = readonly [fault: string, file: string, test: string];

/** What must not harm claims of Cluster API, and the test on a real API server that shows it. */
const CLAIMS: readonly Row[] = [
  ['killed before and after each write of an allocation', 'claims-faults', '$when write $write of an allocation: one'],
  ['killed before and after each write of a deletion', 'claims-faults', '$when write $write of a deletion: nothing'],
  ['two leaders', 'claims-faults', 'two leaders serve 60 claims of 60 addresses'],
  ['a pod and a claim race 200 times', 'claims-faults', 'a pod and a claim race for the last address 200 times'],
  ['watches 30 s late', 'claims-waking', 'a leader that hears 30 s late of claims, IPAddresses and records'],
  ['an IPAddress of its name with another pool', 'claims-faults', 'another pool'],
  ['an IPAddress of its name of another claim', 'claims-faults', 'another claim'],
  ['an IPAddress of its name with the uid of another claim', 'claims-faults', 'an earlier claim'],
  ['an IPAddress of its name of a foreign owner', 'claims-faults', 'a foreign controller'],
  ['a wrong pool', 'claims', 'for its pool says PoolNotReady'],
  ['an unknown kind', 'claims', 'an unknown kind'],
  ['a foreign group', 'claims', 'a foreign group'],
  ['an empty group', 'claims', '1. A claim with an empty group'],
  ['a client of v1beta1', 'claims', 'a claim of v1beta1 is served like any other'],
  ['the pool deleted, disabled, shrunk', 'claims-faults', 'a pool that is $name under its claims'],
  ['the pool disabled', 'claims-faults', 'disabled'],
  ['the pool shrunk', 'claims-faults', 'shrunk to another address'],
  ['the pool deleted', 'claims-faults', 'deleted'],
  ['the cluster deleted before its claims', 'claims', 'the cluster may be gone before its claims'],
  ['the webhook away in an allocation', 'claims-hardship', 'in an allocation: the claim says so'],
  ['the webhook away in a deletion', 'claims-hardship', 'in a deletion: the claim stays'],
  ['100 waiting claims', 'claims-hardship', '100 claims that wait cost no write'],
];

/** The same for IPAllocations of Vitistack. */
const ALLOCATIONS: readonly Row[] = [
  ['killed at each write of an allocation', 'allocations-faults', '$when write $write of an allocation: one record'],
  ['killed at each write of a deletion', 'allocations-faults', '$when write $write of a deletion: nothing is left'],
  ['killed at each write of a renewal', 'allocations-clock', '$when write $write of a renewal'],
  ['killed at each write for a NetworkConfiguration', 'vitistack-crashes', '$when write $write for a NetworkConf'],
  ['killed at each write of its end', 'vitistack-crashes', '$when write $write of the end of a NetworkConfiguration'],
  ['killed at each write for a virtual IP', 'vitistack-crashes', '$when write $write for a virtual IP'],
  ['killed at each write of its end', 'vitistack-crashes', '$when write $write of the end of a virtual IP'],
  ['two leaders, IPAllocations', 'allocations-faults', 'two leaders serve 60 allocations of 60 addresses'],
  ['two leaders, NetworkConfigurations', 'provider', 'two leaders at once make one IPAllocation'],
  ['a race of three for the last address', 'last-address', 'a pod, a claim and an allocation race'],
  ['requestedAddress taken', 'vitistack-points', 'point 4: a requestedAddress of another is a conflict'],
  ['requestedAddress reserved', 'allocations-input', 'reserved'],
  ['requestedAddress gateway', 'allocations-input', 'the gateway'],
  ['requestedAddress network', 'allocations-input', 'the network address'],
  ['requestedAddress broadcast', 'allocations-input', 'the broadcast address'],
  ['requestedAddress outside', 'allocations-input', 'outside of the range'],
  ['requestedAddress IPv6', 'allocations-input', 'IPv6'],
  ['requestedAddress garbage', 'allocations-input', 'garbage of a time before our kind'],
  ['NetworkNamespace missing, late, of type dhcp', 'allocations', 'NetworkNamespace, its provisioning, its static'],
  ['start after end', 'allocations-input', 'a start after its end'],
  ['range before its CIDR', 'allocations-input', 'a start before its CIDR'],
  ['range after its CIDR', 'allocations-input', 'an end after its CIDR'],
  ['/31', 'allocations-input', 'a /31'],
  ['/32', 'allocations-input', 'a /32'],
  ['no gateway, and no room for one', 'allocations-input', 'a /32 without a gateway'],
  ['no gateway', 'vitistack-points', 'point 16: prefix from the CIDR'],
  ['unlabelled allocation', 'vitistack-points', 'point 8: missing labels and owner reference'],
  ['two allocations for one interface', 'vitistack-points', 'point 15: several allocations for one interface'],
  ['NetworkConfiguration late', 'vitistack-points', 'point 7: a NetworkConfiguration that is named and absent'],
  ['deleted by hand while it lives', 'vitistack-points', 'point 10: deleted by hand'],
  ['finalizers stripped', 'allocations-faults', 'finalizer and labels that are stripped come back'],
  ['names of 253 characters', 'vitistack-points', 'point 14: an interface without a name'],
  ['clock set while one leads', 'allocations-clock', 'under one leader takes nothing from a machine'],
  ['clock set between two leaders', 'allocations-clock', 'between two leaders: the next one goes on'],
  ['clock set forward', 'allocations-clock', 'forward'],
  ['clock set back', 'allocations-clock', 'back'],
  ['a create without an answer', 'allocations-faults', 'stays until the record, which comes late'],
  ['a record that the API server refuses', 'allocations-refused', 'an IPAllocation whose record is refused says so'],
  ['an IPAllocation that it refuses', 'allocations-refused', 'a NetworkConfiguration whose IPAllocation is refused'],
  ['a deletion that it refuses', 'allocations-refused', 'an IPAllocation that may not be deleted hides nothing'],
  ['names that others have', 'allocations-refused', 'a NetworkConfiguration says so when the IPAllocations of another'],
  ['a virtual IP that it refuses', 'allocations-refused', 'a virtual IP whose NetworkConfiguration is refused'],
  ['a time that is edited', 'allocations-clock', 'a time that is made $name is no reason to write all at once'],
  ['whole statuses replaced every second', 'replaced-statuses', 'another writer replaces four whole statuses'],
];

test.each([...CLAIMS, ...ALLOCATIONS])('the fault "%s" has its test in %s', (_fault, file, name) => {
  const text = readRootFile(`test/integration/${file}.test.ts`);
  // The title of a test, or the name of a row of its table.
  const named = [...text.matchAll(/(?:\btest\(|\)\(|\bname:)\s*'([^']*)'/g)].map(([, title]) => title ?? '');
  expect(named.filter((title) => title.startsWith(name))).not.toEqual([]);
});
