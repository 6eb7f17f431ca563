/** Columns padded to their widest cell, two spaces apart, as kubectl prints them; an empty cell is shown as `-`. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows.map((row) => row.map((cell) => (cell === '' ? '-' : cell)))];
  const widths = header.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), 0),
  );
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** One fact per line, indented, the names padded; facts without a value are left out. */
export function toFacts(facts: readonly (readonly [name: string, value: string | undefined])[]): string {
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== '');
  const width = known.reduce((widest, [name]) => Math.max(widest, name.length), 0);
  return known.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join('');
}
