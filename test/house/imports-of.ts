const STATEMENT = /^(?<kind>import|export)\b(?:[^'";]*?\bfrom)?\s*['"](?<from>[^'"]+)['"]/gm;
const CALL = /\bimport\(\s*['"](?<from>[^'"]+)['"]/g;

export interface Import {
  readonly from: string;
  /** `export … from`, as in a barrel. */
  readonly isPassedOn: boolean;
}

/** Every module that a source imports, by statement or by call. */
export function importsOf(text: string): Import[] {
  const statements = [...text.matchAll(STATEMENT)].map(({ groups }) => ({
    from: groups?.['from'] ?? '',
    isPassedOn: groups?.['kind'] === 'export',
  }));
  const calls = [...text.matchAll(CALL)].map(({ groups }) => ({ from: groups?.['from'] ?? '', isPassedOn: false }));
  return [...statements, ...calls];
}
