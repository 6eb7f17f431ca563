import type { IpamError } from '#pkg/errors/ipam-error.ts';
import { REASONS } from '#pkg/errors/reasons.ts';
import { clip } from './text-bounds.ts';
import type { CniVersion } from './versions.ts';

const MAX_MESSAGE = 1024;
const MAX_DETAILS = 8 * 1024;

export interface ErrorDocument {
  readonly cniVersion: CniVersion;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

export function toErrorDocument(error: IpamError, cniVersion: CniVersion): ErrorDocument {
  return {
    cniVersion,
    code: REASONS[error.reason].cni,
    msg: clip(error.message, MAX_MESSAGE),
    ...(error.details === '' ? {} : { details: clip(error.details, MAX_DETAILS) }),
  };
}
