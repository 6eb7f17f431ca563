import { expect, test } from 'vitest';
import { importsOf } from './imports-of.ts';

test.each([
  { name: 'named', text: "import { a } from './a.ts';", found: ['./a.ts'] },
  { name: 'of types', text: "import type { A } from '#pkg/a.ts';", found: ['#pkg/a.ts'] },
  { name: 'over several lines', text: "import {\n  a,\n  type B,\n} from 'yaml';\nconst x = 1;", found: ['yaml'] },
  { name: 'for its effect', text: "import './a.ts';", found: ['./a.ts'] },
  { name: 'by call', text: "const a = await import('node:fs');", found: ['node:fs'] },
  { name: 'one after the other', text: "import a from 'a';\nimport b from 'b';\n", found: ['a', 'b'] },
  { name: 'passed on', text: "export { a } from './a.ts';\nexport * from './b.ts';", found: ['./a.ts', './b.ts'] },
  { name: 'none in an export', text: "export function a() {\n  return 'x';\n}\nexport const b = 'from';", found: [] },
])('an import $name', ({ text, found }) => {
  expect(importsOf(text).map(({ from }) => from)).toEqual(found);
});

test('a re-export is recognized', () => {
  expect(importsOf("import 'a';\nexport * from 'b';")).toEqual([
    { from: 'a', isPassedOn: false },
    { from: 'b', isPassedOn: true },
  ]);
});
