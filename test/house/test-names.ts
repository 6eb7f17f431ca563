import { readRootFile } from './source-files.ts';

export interface NamedTest {
  /** As it is written: a test of many rows has one name. */
  readonly name: string;
  /** 0 at the top of the file. */
  readonly depth: number;
}

/** `test('…',`, `test.each(ROWS)('…',` and the end of a list of rows, `])('…',`. None that is skipped or still to be written. */
const NAMED =
  /^( *)(?:(?:test|describe)(?:(?:\.concurrent)?\.(?:each|for)\b[^\n]*\))?|\][^\n(]*\))\(\s*(['"`])((?:(?!\2)[^\n])*)\2,/gm;

/** What is asked for, the file and the name of the test that holds it, and its row where the test has many. */
export type Held = readonly [what: string, file: string, name: string, row?: string];

/** How many tests have this name. Several may be named after their rows alone: then the row counts. */
export function countTests(file: string, name: string, row?: string): number {
  const named = readTestNames(file).filter((it) => it.name === name).length;
  return row === undefined || named === 0 ? named : readRootFile(file).split(`'${row}'`).length - 1;
}

export function readTestNames(path: string): NamedTest[] {
  return testNamesIn(readRootFile(path));
}

export function testNamesIn(text: string): NamedTest[] {
  return [...text.matchAll(NAMED)].map(([, indent = '', , name = '']) => ({ name, depth: indent.length / 2 }));
}
