import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRootFile } from './source-files.ts';

const ROOT = join(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT }).sort();

test('a link to a decision says the number of the page that it leads to', () => {
  const links = pages.flatMap((page) =>
    [...readRootFile(page).matchAll(/\[(?:ADR )?(\d{4})\]\((?:[a-z/.]*\/)?(\d{4})-[^)]*\)/g)].map(
      ([link, said, leads]) => ({ page, link, isRight: said === leads }),
    ),
  );
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter(({ isRight }) => !isRight)).toEqual([]);
});

test('a decision has a number of its own, and its heading says it', () => {
  const decisions = pages.filter((page) => page.startsWith('docs/adr/'));
  const numbers = decisions.map((page) => page.slice('docs/adr/'.length, 'docs/adr/'.length + 4));
  expect(new Set(numbers).size).toBe(numbers.length);
  const headings = decisions.map((page) => readRootFile(page).slice(2, 6));
  expect(headings).toEqual(numbers);
});
