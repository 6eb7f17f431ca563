import type { NodeIndex } from '#agent/node/node-index.ts';
import type { HolderSource } from '#agent/sources/holder-source.ts';
import type { CheckArgs } from '#pkg/agentapi/wire.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { parseAddressWithPrefix } from '#pkg/ip/cidr.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { holderKey, type IpRecord } from '#pkg/record/ip-record.ts';

export interface CheckDeps {
  readonly index: NodeIndex;
  readonly ledger: Ledger;
  readonly holders: HolderSource;
}

/** CHECK: the records exist, belong to this container, and agree with prevResult. */
export async function checkAttachment(args: CheckArgs, deps: CheckDeps): Promise<void> {
  const { index, ledger } = deps;
  const seen = index.ofContainer(args.containerID, args.ifName);
  const stored = await Promise.all(seen.map(({ name }) => ledger.get(name)));
  const own = stored.filter((it) => it !== null && isOf(it, args)) as IpRecord[];
  const problem = findDifference(args, own.length > 0 ? own : await recordsOfMovingMachine(args, deps));
  if (problem !== null) throw new IpamError('check-failed', problem);
}

/**
 * The ADD of a migration target writes nothing: the record belongs to the source pod until the VMI has moved, and then
 * has no container. Between the DEL of the source and the write of the controller it is Retained.
 */
async function recordsOfMovingMachine(args: CheckArgs, { ledger, holders }: CheckDeps): Promise<IpRecord[]> {
  const facts = await holders.resolve({ netNamespace: '', ...args }).catch((thrown: unknown) => {
    if (toIpamError(thrown).reason === 'unknown-pod') return null;
    throw thrown;
  });
  // The mark is enough here: nothing is given out, and the migration is over long before the pod is.
  if (facts === null || facts.holder.kind !== 'VirtualMachineInstance' || !facts.hasMigrationMark) return [];
  const families = new Set(args.ips.map(({ address }) => parseAddressWithPrefix(address).address.family));
  const listed = await Promise.all([...families].map((family) => ledger.byHolder(holderKey(facts.holder, family))));
  return listed.flat().filter(({ spec }) => spec.state === 'Allocated' || spec.state === 'Retained');
}

/** Pure: the first difference between the records of an attachment and what prevResult shows, or null. */
function findDifference(args: CheckArgs, records: readonly IpRecord[]): string | null {
  const who = `${args.ifName} of container ${args.containerID}`;
  if (records.length === 0) return `no address is recorded for ${who}`;
  const shown = new Map(args.ips.map((ip) => [canonical(ip.address), ip]));
  for (const { spec } of records) {
    const text = `${spec.address}/${spec.prefix}`;
    const ip = shown.get(text);
    if (ip === undefined)
      return `${who} holds ${text}, but prevResult shows ${[...shown.keys()].join(', ') || 'no address'}`;
    const gateway = spec.gateway ?? null;
    if (ip.gateway !== undefined && canonical(ip.gateway) !== gateway) {
      return `the gateway recorded for ${text} is ${gateway ?? 'none'}, but prevResult shows ${ip.gateway}`;
    }
    shown.delete(text);
  }
  const [extra] = shown.keys();
  return extra === undefined ? null : `prevResult shows ${extra} on ${who}, but it is not recorded`;
}

function isOf({ spec }: IpRecord, { containerID, ifName }: CheckArgs): boolean {
  return spec.state === 'Allocated' && spec.holder.containerID === containerID && spec.holder.interface === ifName;
}

function canonical(text: string): string {
  const { address, prefix } = parseAddressWithPrefix(text);
  return prefix === null ? formatAddress(address) : `${formatAddress(address)}/${prefix}`;
}
