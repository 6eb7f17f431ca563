import { type Attachment, type CniEnv, parseAttachment, parseCniArgs, parseVerb } from './environment.ts';
import {
  decodeIpamConf,
  decodeNetConf,
  decodeRequestedIps,
  type IpamConf,
  type NetConf,
  peekVersion,
  requireNetwork,
} from './net-conf.ts';
import { decodePrevResult, type PrevAddress } from './prev-result.ts';
import { decodeValidAttachments, type ValidAttachment } from './valid-attachments.ts';
import type { CniVersion, Verb } from './versions.ts';

interface Common {
  readonly cniVersion: CniVersion;
  readonly network: string | undefined;
}

interface OfAttachment extends Common, Attachment {
  /** Empty texts where the runtime said nothing. */
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
}

export interface AddRequest extends OfAttachment {
  readonly verb: 'ADD';
  readonly network: string;
  readonly ipam: IpamConf;
  readonly requestedIPs: readonly string[];
}

export interface DelRequest extends OfAttachment {
  readonly verb: 'DEL';
}

export interface CheckRequest extends OfAttachment {
  readonly verb: 'CHECK';
  readonly addresses: readonly PrevAddress[];
}

export interface GcRequest extends Common {
  readonly verb: 'GC';
  readonly network: string;
  readonly validAttachments: readonly ValidAttachment[];
}

export interface StatusRequest extends Common {
  readonly verb: 'STATUS';
}

export interface VersionRequest {
  readonly verb: 'VERSION';
  readonly cniVersion: CniVersion;
}

export type CniRequest = AddRequest | DelRequest | CheckRequest | GcRequest | StatusRequest | VersionRequest;
export type RequestOf<V extends Verb> = Extract<CniRequest, { verb: V }>;

/** One CNI call. Each verb looks only at what it needs, so that a DEL is not refused for a key that it would not use. */
export function parseRequest(env: CniEnv, stdin: string): CniRequest {
  return PARSERS[parseVerb(env)](env, stdin);
}

const PARSERS: { readonly [V in Verb]: (env: CniEnv, stdin: string) => RequestOf<V> } = {
  ADD: (env, stdin) => {
    const attachment = parseAttachment(env, true);
    const { pod, ips } = parseCniArgs(env('CNI_ARGS') ?? '');
    const conf = decodeNetConf(stdin, 'ADD');
    return {
      verb: 'ADD',
      ...common(conf),
      network: requireNetwork(conf),
      ...attachment,
      pod,
      ipam: decodeIpamConf(conf.fields),
      requestedIPs: decodeRequestedIps(conf.fields, ips),
    };
  },
  DEL: (env, stdin) => {
    const attachment = parseAttachment(env, false);
    const { pod } = parseCniArgs(env('CNI_ARGS') ?? '');
    return { verb: 'DEL', ...common(decodeNetConf(stdin, 'DEL')), ...attachment, pod };
  },
  CHECK: (env, stdin) => {
    const attachment = parseAttachment(env, true);
    const { pod } = parseCniArgs(env('CNI_ARGS') ?? '');
    const conf = decodeNetConf(stdin, 'CHECK');
    return {
      verb: 'CHECK',
      ...common(conf),
      ...attachment,
      pod,
      addresses: decodePrevResult(conf.fields, attachment.ifName),
    };
  },
  GC: (_env, stdin) => {
    const conf = decodeNetConf(stdin, 'GC');
    return {
      verb: 'GC',
      ...common(conf),
      network: requireNetwork(conf),
      validAttachments: decodeValidAttachments(conf.fields),
    };
  },
  STATUS: (_env, stdin) => ({ verb: 'STATUS', ...common(decodeNetConf(stdin, 'STATUS')) }),
  VERSION: (_env, stdin) => ({ verb: 'VERSION', cniVersion: peekVersion(stdin) }),
};

function common(conf: NetConf): Common {
  return { cniVersion: conf.cniVersion, network: conf.network };
}
