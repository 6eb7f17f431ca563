import { quote } from '#pkg/ip/quote.ts';
import { POD_ANNOTATIONS, SUBNET_ANNOTATIONS } from './annotation-keys.ts';
import { AnnotationReader, type Parsed } from './annotation-reader.ts';
import type { Labels } from './request.ts';
import { type NicSubnets, parseSubnet, parseSubnets } from './subnet-annotations.ts';

/** How many addresses the pool of an application has: so many, or so many more than it has pods. */
export interface IpNumber {
  readonly kind: 'fixed' | 'beyond-replicas';
  readonly count: number;
}

/** What the pod template of an application asks for. */
export interface SubnetWish {
  /** At least one. */
  readonly nics: readonly NicSubnets[];
  /** Null: the cluster's setting. */
  readonly number: IpNumber | null;
  /** The pool goes with its application. */
  readonly reclaim: boolean;
}

/** The most addresses of one pool that is made for an application. A tenant writes the number, and a typing error must not take a subnet. */
export const MOST_IPS_OF_AUTO_POOL = 20_000;

/** The annotations that concern subnets; null where none is asked for. */
export function pickSubnetAnnotations(annotations: Labels): Labels | null {
  const { [POD_ANNOTATIONS.subnets]: subnets, [POD_ANNOTATIONS.subnet]: subnet } = annotations;
  if (subnets === undefined && subnet === undefined) return null;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => SUBNET_ANNOTATIONS.includes(key)));
}

/** Null: no subnet is asked for. Throws `bad-annotation`, which names annotation and fault. */
export function parseSubnetWish(annotations: Labels): Parsed<SubnetWish> | null {
  const nics = parseNicSubnets(annotations);
  if (nics === null) return null;
  const number = annotations[POD_ANNOTATIONS.ipNumber];
  const reclaim = annotations[POD_ANNOTATIONS.reclaim];
  return {
    value: {
      nics: nics.value,
      number: number === undefined ? null : parseIpNumber(number),
      reclaim: reclaim === undefined ? true : parseReclaim(reclaim),
    },
    warnings: nics.warnings,
  };
}

/** `subnets` wins over `subnet`. */
export function parseNicSubnets(annotations: Labels): Parsed<readonly NicSubnets[]> | null {
  const { [POD_ANNOTATIONS.subnets]: subnets, [POD_ANNOTATIONS.subnet]: subnet } = annotations;
  if (subnets !== undefined) return parseSubnets(subnets);
  if (subnet === undefined) return null;
  const { value, warnings } = parseSubnet(subnet);
  return { value: [value], warnings };
}

/** `5` or `+2`. Spiderpool ignores text before the plus; here it is refused, because it has been a typing error every time. */
export function parseIpNumber(text: string): IpNumber {
  const reader = new AnnotationReader(POD_ANNOTATIONS.ipNumber);
  const [, plus, digits] = /^(\+?)(\d{1,9})$/.exec(text) ?? [];
  if (digits === undefined) {
    throw reader.fault(
      `${quote(text)} is no number of addresses; write "5" for five, or "+2" for two more than replicas`,
    );
  }
  const count = Number(digits);
  if (count > MOST_IPS_OF_AUTO_POOL) {
    throw reader.fault(`${count} addresses are too many, one pool has at most ${MOST_IPS_OF_AUTO_POOL}`);
  }
  return { kind: plus === '+' ? 'beyond-replicas' : 'fixed', count };
}

/** As the annotation of a pool says it. */
export function formatIpNumber({ kind, count }: IpNumber): string {
  return kind === 'fixed' ? String(count) : `+${count}`;
}

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** The spellings of Go's ParseBool, which Spiderpool uses. */
function parseReclaim(text: string): boolean {
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw new AnnotationReader(POD_ANNOTATIONS.reclaim).fault(`${quote(text)} must be "true" or "false"`);
}
