import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { HOLDER_KINDS, MACHINE_HOLDER_KINDS, RECORD_STATES } from '#pkg/record/ip-record.ts';
import { AGENT_HOLDERS, DELETES, TRANSITIONS, type Writer } from '#pkg/record/transition-table.ts';
import { ROOMS } from './rooms.ts';
import { readRootFile, readSourceFiles } from './source-files.ts';

interface Validation {
  readonly expression: string;
}

const [policy] = parseAllDocuments(readRootFile('deploy/admission-policy.yaml')).map((it) => it.toJSON());
const validations: readonly Validation[] = policy.spec.validations;

function expressionWith(text: string): string {
  const found = validations.filter(({ expression }) => expression.includes(text));
  expect(found.map(({ expression }) => expression)).toHaveLength(1);
  return found[0]?.expression ?? '';
}

const quoted = (text: string) => [...text.matchAll(/['"]([A-Z][A-Za-z ]+)['"]/g)].map(([, it]) => it);
const movesOf = (writer: Writer) =>
  [...new Set(TRANSITIONS.filter(({ by }) => by.includes(writer)).map(({ from, to }) => `${from} to ${to}`))].sort();

test('the admission policy lets an agent make the moves of the table and no others', () => {
  const expression = expressionWith("' to '");
  const [own = '', other = ''] = expression.slice(expression.indexOf('?')).split(':');
  expect(quoted(own).toSorted()).toEqual(movesOf('own-agent'));
  expect(quoted(other).toSorted()).toEqual(movesOf('other-agent'));
});

test("the admission policy lets an agent change another node's record only in states that it may take over", () => {
  const states = TRANSITIONS.filter(({ by }) => by.includes('other-agent')).map(({ from }) => from);
  expect(quoted(expressionWith('variables.wasOwn || variables.wasState in')).toSorted()).toEqual(states.toSorted());
});

test('the admission policy lets an agent delete its own records in the states of the table', () => {
  expect(DELETES['other-agent']).toEqual([]);
  expect(quoted(expressionWith('!variables.isDelete || variables.wasState in'))).toEqual(DELETES['own-agent']);
});

test('the admission policy lets an agent write the holders of the table and no others', () => {
  const written = quoted(expressionWith('object.spec.holder.kind in'));
  expect(written).toEqual(AGENT_HOLDERS.flatMap(({ kind, only }) => (only === null ? [kind] : [kind, only])));
});

test('each kind of holder is written by the agents of a cluster, by the standalone agent, or by a reconciler', () => {
  const kinds = [...AGENT_HOLDERS.map(({ kind }) => kind), 'Container', ...MACHINE_HOLDER_KINDS];
  expect(kinds.toSorted()).toEqual(HOLDER_KINDS.toSorted());
});

test('the controller can end every state, so no record stays without an end', () => {
  expect(DELETES.controller.toSorted()).toEqual(RECORD_STATES.toSorted());
});

const WRITERS = ['own-agent', 'other-agent', 'controller'] as const;
/** `| from | to | own agent | other agent | controller |` of docs/design.md: whether each of them says yes. */
const rows = [
  ...readRootFile('docs/design.md').matchAll(/^\| (\w+) \| (\(deleted\)|[A-Z]\w+) \|([^|]+)\|([^|]+)\|([^|]+)\|/gm),
]
  .filter(([, from = '']) => (RECORD_STATES as readonly string[]).includes(from))
  .map(([, from, to, ...cells]) => ({ from, to, by: WRITERS.filter((_, at) => cells[at]?.trim().startsWith('yes')) }));

test('docs/design.md shows every move with those who may make it', () => {
  const moves = TRANSITIONS.filter(({ way }) => way !== 'repair').map(({ from, to }) => `${from} to ${to}`);
  const shown = rows.filter(({ to }) => to !== '(deleted)');
  expect(shown.map(({ from, to }) => `${from} to ${to}`).toSorted()).toEqual([...new Set(moves)].toSorted());
  for (const { from, to, by } of shown) {
    const allowed = TRANSITIONS.filter((it) => it.from === from && it.to === to).flatMap((it) => it.by);
    expect([from, to, by]).toEqual([from, to, WRITERS.filter((writer) => allowed.includes(writer))]);
  }
});

test('docs/design.md shows who may delete a record in which state', () => {
  const shown = rows.filter(({ to }) => to === '(deleted)');
  expect(shown).toEqual(
    RECORD_STATES.map((from) => ({
      from,
      to: '(deleted)',
      by: WRITERS.filter((writer) => DELETES[writer].includes(from)),
    })),
  );
});

test('every rule that code, manifests or pages cite has its heading in docs/design.md', () => {
  const headings = [...readRootFile('docs/design.md').matchAll(/^### Rule (\d+): /gm)].map(([, number]) => number);
  expect(headings).toEqual(Array.from({ length: 10 }, (_, at) => String(at + 1)));
  const texts = [...readSourceFiles(), { path: 'policy', text: readRootFile('deploy/admission-policy.yaml') }];
  const cited = texts.flatMap(({ text }) => [...text.matchAll(/\b[Rr]ules? (\d+)\b/g)].map(([, number]) => number));
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter((number) => !headings.includes(number ?? ''))).toEqual([]);
});

/** The rooms of each row of the map, from the top. */
function mappedRooms(): string[][] {
  const page = readRootFile('docs/design.md');
  const map = page.slice(page.indexOf('## Where things are'), page.indexOf('## Find your way'));
  return [...map.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, room = '']) => room),
  );
}

test('docs/design.md maps every room', () => {
  expect(mappedRooms().flat().toSorted()).toEqual(Object.keys(ROOMS).toSorted());
});

test('in the map of docs/design.md each room stands above the rooms that it may import', () => {
  const rowOf = new Map(mappedRooms().flatMap((rooms, row) => rooms.map((room) => [room, row] as const)));
  const upwards = Object.entries(ROOMS).flatMap(([room, { rooms }]) =>
    rooms.filter((other) => (rowOf.get(other) ?? 0) < (rowOf.get(room) ?? 0)).map((other) => `${room} → ${other}`),
  );
  expect(upwards).toEqual([]);
});
