/** One line of the table: subject, value, baseline, limit, and whether the limit is met. */
export interface Line {
  readonly what: string;
  readonly value: string;
  readonly against?: string;
  readonly limit?: string;
  readonly isMet?: boolean;
}

export function printTable(title: string, lines: readonly Line[]): void {
  const rows = [
    ['what', 'value', 'against the baseline', 'limit', ''],
    ...lines.map((it) => [it.what, it.value, it.against ?? '', it.limit ?? '', verdict(it.isMet)]),
  ];
  const widths = [0, 1, 2, 3, 4].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  console.log(`\n${title}`);
  for (const row of rows) console.log(`  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd());
}

function verdict(isMet: boolean | undefined): string {
  if (isMet === undefined) return '';
  return isMet ? 'met' : 'MISSED';
}

export function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}
