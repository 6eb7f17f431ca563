export type Labels = Readonly<Record<string, string>>;

/** The sum of a counter's samples that carry all the wanted labels, in Prometheus text. */
export function sumCounter(exposition: string, name: string, wanted: Labels): number {
  return (
    exposition
      .split('\n')
      // A sample without labels has no braces.
      .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && carries(line, wanted))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  );
}

function carries(line: string, wanted: Labels): boolean {
  const labels = new Map([...line.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value]));
  return Object.entries(wanted).every(([key, value]) => labels.get(key) === value);
}
