import { isContainerId, isInterfaceName, isNetworkName, isPodName, JsonFields } from '#pkg/cni/untrusted-input.ts';
import type { ReleaseArgs } from './admin.ts';
import type { AddArgs, BatchDelArgs, CallExtras, CheckArgs, DelArgs, GcArgs, SpooledDel } from './wire.ts';

const MAX_POOLS = 1000;
const MAX_POOL_NAME = 253;
const MAX_REQUESTED = 256;
const MAX_ADDRESS = 64;
const MAX_IPS = 256;
const MAX_ATTACHMENTS = 10_000;
/** As long as a record may keep it. */
const MAX_PATH = 1024;
const MAX_POD_UID = 128;
const MAX_TIMEOUT_MS = 3_600_000;
const MAX_WARNINGS = 100;
const MAX_WARNING = 512;

export function decodeAddArgs(body: unknown): AddArgs {
  const fields = JsonFields.of(body, 'the body of ADD', 'bad-input');
  const defaultIPv4IPPool = fields.optionalTexts('defaultIPv4IPPool', MAX_POOLS, MAX_POOL_NAME);
  const defaultIPv6IPPool = fields.optionalTexts('defaultIPv6IPPool', MAX_POOLS, MAX_POOL_NAME);
  const cleanGateway = fields.optionalFlag('cleanGateway');
  const matchMasterSubnet = fields.optionalFlag('matchMasterSubnet');
  const requestedIPs = fields.optionalTexts('requestedIPs', MAX_REQUESTED, MAX_ADDRESS);
  return {
    ...decodeWireHolder(fields),
    ifName: decodeInterface(fields, 'ifName'),
    netNamespace: decodeNetns(fields).netNamespace ?? fields.refuse('netNamespace', 'is missing'),
    ...(defaultIPv4IPPool === undefined ? {} : { defaultIPv4IPPool }),
    ...(defaultIPv6IPPool === undefined ? {} : { defaultIPv6IPPool }),
    ...(cleanGateway === undefined ? {} : { cleanGateway }),
    ...(matchMasterSubnet === undefined ? {} : { matchMasterSubnet }),
    ...(requestedIPs === undefined ? {} : { requestedIPs }),
    ...decodeCallExtras(fields),
  };
}

export function decodeDelArgs(body: unknown): DelArgs {
  return delArgsOf(JsonFields.of(body, 'the body of DEL', 'bad-input'));
}

function delArgsOf(fields: JsonFields): DelArgs {
  return {
    ...decodeWireHolder(fields),
    ifName: decodeInterface(fields, 'ifName'),
    ...decodeNetns(fields),
    ...decodeCallExtras(fields),
  };
}

export function decodeBatchDelArgs(body: unknown): BatchDelArgs {
  const fields = JsonFields.of(body, 'the body of a batch DEL', 'bad-input');
  const isReleaseConflictIPs = fields.optionalFlag('isReleaseConflictIPs');
  return {
    ...decodeWireHolder(fields),
    ...decodeNetns(fields),
    ...(isReleaseConflictIPs === undefined ? {} : { isReleaseConflictIPs }),
  };
}

export function decodeCheckArgs(body: unknown): CheckArgs {
  const fields = JsonFields.of(body, 'the body of CHECK', 'bad-input');
  return {
    ...decodeWireHolder(fields),
    ifName: decodeInterface(fields, 'ifName'),
    ...decodeNetns(fields),
    ips: fields.objects('ips', MAX_IPS).map((ip) => {
      const address = ip.text('address', MAX_ADDRESS);
      const gateway = ip.optionalText('gateway', MAX_ADDRESS) ?? '';
      return gateway === '' ? { address } : { address, gateway };
    }),
    ...decodeCallExtras(fields),
  };
}

export function decodeGcArgs(body: unknown): GcArgs {
  const fields = JsonFields.of(body, 'the body of GC', 'bad-input');
  return {
    ...decodeCallExtras(fields),
    network: decodeNetwork(fields),
    validAttachments: fields.objects('validAttachments', MAX_ATTACHMENTS).map((attachment) => ({
      containerID: decodeContainerId(attachment),
      ifName: decodeInterface(attachment, 'ifName'),
    })),
  };
}

export function decodeReleaseArgs(body: unknown): ReleaseArgs {
  const fields = JsonFields.of(body, 'the body of a release', 'bad-input');
  const althoughInDoubt = fields.optionalFlag('althoughInDoubt');
  return {
    ...(althoughInDoubt === undefined ? {} : { althoughInDoubt }),
    name: fields.text('name', 253),
    uid: fields.text('uid', 128),
    resourceVersion: fields.text('resourceVersion', 64),
    asOfMs: fields.optionalInteger('asOfMs', 0, Number.MAX_SAFE_INTEGER) ?? fields.refuse('asOfMs', 'is missing'),
  };
}

/** The file of one attachment in the spool directory: the same DEL twice is one file. */
export function spoolFileName(attachment: { readonly containerID: string; readonly ifName: string }): string {
  return `${attachment.containerID}@${percentEncode(attachment.ifName)}.json`;
}

export function decodeSpooledDel(content: unknown): SpooledDel {
  const fields = JsonFields.of(content, 'a spooled DEL', 'bad-input');
  if (fields.raw('version') !== 1) fields.refuse('version', 'must be 1');
  return { version: 1, del: delArgsOf(fields.optionalObject('del') ?? fields.refuse('del', 'is missing')) };
}

function percentEncode(ifName: string): string {
  return encodeURIComponent(ifName).replace(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

interface Holder {
  readonly containerID: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUID: string;
}

/** The fields that every body about a sandbox has. The pod's may be empty, not absent. */
function decodeWireHolder(fields: JsonFields): Holder {
  return {
    containerID: decodeContainerId(fields),
    podNamespace: fields.textThat(isPodName, 'podNamespace', 'the name of a namespace'),
    podName: fields.textThat(isPodName, 'podName', 'the name of a pod'),
    podUID: fields.text('podUID', MAX_POD_UID),
  };
}

function decodeContainerId(fields: JsonFields): string {
  return fields.textThat(isContainerId, 'containerID', 'a container ID');
}

export function decodeInterface(fields: JsonFields, key: string): string {
  return fields.textThat(isInterfaceName, key, 'an interface name');
}

function decodeNetns(fields: JsonFields): { readonly netNamespace?: string } {
  const netNamespace = fields.optionalText('netNamespace', MAX_PATH);
  return netNamespace === undefined ? {} : { netNamespace };
}

function decodeCallExtras(fields: JsonFields): CallExtras {
  const network = (fields.raw('network') ?? '') === '' ? undefined : decodeNetwork(fields);
  const timeoutMs = fields.optionalInteger('timeoutMs', 1, MAX_TIMEOUT_MS);
  const ageMs = fields.optionalInteger('ageMs', 0, MAX_TIMEOUT_MS);
  const warnings = fields.optionalTexts('warnings', MAX_WARNINGS, MAX_WARNING);
  return {
    ...(network === undefined ? {} : { network }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(ageMs === undefined ? {} : { ageMs }),
    ...(warnings === undefined ? {} : { warnings }),
  };
}

function decodeNetwork(fields: JsonFields): string {
  return fields.textThat(isNetworkName, 'network', 'the name of a CNI network');
}
