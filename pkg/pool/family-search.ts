import type { Family } from '#pkg/ip/address.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { describeSource } from './candidate-source.ts';
import type { Candidate, CandidateOptions } from './candidates.ts';
import { expandNames, toCandidates } from './expand-names.ts';
import type { NameList } from './namespace-annotations.ts';
import { compareText } from './order.ts';
import type { Pool } from './pool.ts';

/** The candidates of one family; `notes` say why there are fewer than were asked for. */
export interface FamilySearch {
  readonly candidates: readonly Candidate[];
  readonly notes: readonly string[];
}

export function searchNames(
  list: NameList,
  family: Family,
  known: readonly Pool[],
  options: CandidateOptions,
): FamilySearch {
  if (list.names.length === 0) return { candidates: [], notes: [] };
  if (!isEnabled(family, options)) return { candidates: [], notes: [disabledNote(list.from, family)] };
  const { candidates, unmatched } = expandNames(list, family, known);
  const patterns = listSome(unmatched.map(quote), 5);
  return {
    candidates,
    notes: unmatched.length === 0 ? [] : [`${list.from}: no IPv${family} pool matches ${patterns}`],
  };
}

export function searchDefaults(family: Family, known: readonly Pool[], options: CandidateOptions): FamilySearch {
  const pools = known.filter((pool) => pool.isDefault && pool.family === family);
  if (pools.length > 0 && !isEnabled(family, options)) {
    return { candidates: [], notes: [disabledNote(describeSource('default-pools'), family)] };
  }
  return { candidates: toCandidates(pools.sort((a, b) => compareText(a.name, b.name))), notes: [] };
}

function isEnabled(family: Family, options: CandidateOptions): boolean {
  return family === 4 ? options.enableIPv4 : options.enableIPv6;
}

export function disabledNote(from: string, family: Family): string {
  return `${from}: IPv${family} is disabled, what is named for it is not used`;
}
