import { mutatePool, mutateReservedIp, mutateSubnet } from './mutate.ts';
import type { NetworkWorld } from './network-world.ts';
import type { Reservations } from './reservations.ts';
import type { AdmissionRequest, ReviewFields } from './review.ts';
import { type PoolValidation, validatePool } from './validate-pool.ts';
import { validateReservedIp } from './validate-reserved-ip.ts';
import { validateSubnet } from './validate-subnet.ts';
import { type AdmissionVerdict, ALLOWED, type JsonPatchStep, toFieldError } from './verdict.ts';

export interface Handler {
  readonly kind: string;
  readonly judge: (request: AdmissionRequest) => Promise<AdmissionVerdict>;
}

export interface AdmissionOptions extends Omit<PoolValidation, 'reservations'> {
  readonly world: NetworkWorld;
  readonly reservations: Reservations;
}

const PATH = 'spiderpool-spidernet-io-v2beta1';

/** By path, as Spiderpool serves them. */
export function admissionHandlers(options: AdmissionOptions): ReadonlyMap<string, Handler> {
  const { world, enableSpiderSubnet } = options;
  const subnets = () => (enableSpiderSubnet ? world.subnets() : Promise.resolve(null));
  const kinds = [
    {
      kind: 'SpiderIPPool',
      mutate: async (object: ReviewFields) => mutatePool(object, await subnets()),
      validate: (request: AdmissionRequest) => validatePool(request, options),
    },
    {
      kind: 'SpiderSubnet',
      mutate: async (object: ReviewFields) => mutateSubnet(object),
      validate: (request: AdmissionRequest) => validateSubnet(request, options),
    },
    {
      kind: 'SpiderReservedIP',
      mutate: async (object: ReviewFields) => mutateReservedIp(object),
      validate: async (request: AdmissionRequest) => validateReservedIp(request, options),
    },
  ];
  return new Map(
    kinds.flatMap(({ kind, mutate, validate }): [string, Handler][] => [
      [`/mutate-${PATH}-${kind.toLowerCase()}`, { kind, judge: (request) => mutation(request, mutate) }],
      [`/validate-${PATH}-${kind.toLowerCase()}`, { kind, judge: (request) => validation(request, validate) }],
    ]),
  );
}

async function mutation(
  { object }: AdmissionRequest,
  mutate: (object: ReviewFields) => Promise<JsonPatchStep[]>,
): Promise<AdmissionVerdict> {
  return object === null ? ALLOWED : { allowed: true, patch: await mutate(object) };
}

async function validation(
  request: AdmissionRequest,
  validate: (request: AdmissionRequest) => Promise<AdmissionVerdict>,
): Promise<AdmissionVerdict> {
  try {
    return await validate(request);
  } catch (thrown) {
    const refusal = toFieldError(thrown);
    if (refusal === null) throw thrown;
    return refusal;
  }
}
