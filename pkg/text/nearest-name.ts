const LONGEST = 40;
const MOST_EDITS = 2;

/** The known name that a mistyped one probably stands for, whatever its case; null if nothing is near. */
export function nearestName(typed: string, known: readonly string[]): string | null {
  if (typed.length > LONGEST) return null;
  let nearest: string | null = null;
  let fewest = Math.min(MOST_EDITS, Math.floor(typed.length / 2)) + 1;
  for (const name of known) {
    const edits = countEdits(typed.toLowerCase(), name.toLowerCase());
    if (edits < fewest) {
      nearest = name;
      fewest = edits;
    }
  }
  return nearest;
}

/** Levenshtein distance, one row at a time. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, character] of [...from].entries()) {
    const next = [above + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + Number(to[column - 1] !== character);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
