import type { JsonFields } from '#pkg/cni/json-fields.ts';
import { isNetworkName } from '#pkg/cni/names.ts';
import type { CallExtras } from './wire.ts';

const MAX_TIMEOUT_MS = 3_600_000;
const MAX_WARNINGS = 100;
const MAX_WARNING = 512;

export function decodeCallExtras(fields: JsonFields): CallExtras {
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

export function decodeNetwork(fields: JsonFields): string {
  return fields.textThat(isNetworkName, 'network', 'the name of a CNI network');
}
