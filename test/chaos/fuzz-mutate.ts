import type { Random } from './fuzz-random.ts';

/** Texts that have broken parsers of JSON, HTTP and UTF-8. */
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u0000',
  '\\ud800',
  '\\udc00',
  '\\u',
  'null',
  'true',
  '-0',
  '1e999',
  '-1e-999',
  '9007199254740993',
  '00',
  '0x1',
  'NaN',
  '"__proto__":',
  '"constructor":{"prototype":{}}',
  '"toString":1',
  '{"":{"":[[]]}}',
  '\0',
  '\x7f',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '🎈',
  'ü',
  '\r\n',
  '\r\n\r\n',
  '0\r\n\r\n',
  'content-length: 0\r\n',
  'transfer-encoding: chunked\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  '%00',
  '../../etc/passwd',
  ';',
  '=',
  ' '.repeat(300),
].map((piece) => Buffer.from(piece));
const BAD_UTF8 = [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3]].map((bytes) =>
  Buffer.from(bytes),
);

/** The same bytes with a few random changes. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let mutated = bytes;
  for (let left = 1 + random.below(5); left > 0; left--) mutated = random.pick(ACCIDENTS)(random, mutated);
  return mutated;
}

const ACCIDENTS: readonly ((random: Random, bytes: Buffer) => Buffer)[] = [
  (random, bytes) => splice(bytes, random.below(bytes.length + 1), 0, random.pick(PIECES)),
  (random, bytes) => splice(bytes, random.below(bytes.length + 1), random.below(4), random.pick(PIECES)),
  (random, bytes) => splice(bytes, random.below(bytes.length + 1), 1, random.bytes(1)),
  (random, bytes) => splice(bytes, random.below(bytes.length + 1), random.below(20), Buffer.alloc(0)),
  (random, bytes) => splice(bytes, random.below(bytes.length + 1), 0, random.pick(BAD_UTF8)),
  (random, bytes) => bytes.subarray(0, random.below(bytes.length + 1)),
  (random, bytes) => {
    const from = random.below(bytes.length + 1);
    return splice(bytes, random.below(bytes.length + 1), 0, bytes.subarray(from, from + random.below(60)));
  },
];

function splice(bytes: Buffer, at: number, removed: number, added: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
}

/** The same document with one value replaced, removed, renamed or repeated. */
export function mutateJson(random: Random, document: unknown): unknown {
  if (typeof document !== 'object' || document === null || random.isOneIn(4)) return oddValue(random);
  const entries: [string, unknown][] = Object.entries(document);
  const at = random.below(entries.length + 1);
  const [key, value] = entries[at] ?? [random.pick(['__proto__', '', 'ipam', 'ips', 'ü', '0']), null];
  const changed: [string, unknown] = [random.isOneIn(8) ? `${key}x` : key, mutateJson(random, value)];
  const rest = entries.toSpliced(at, 1, ...(random.isOneIn(6) ? [] : [changed]));
  return Array.isArray(document) ? rest.map(([, item]) => item) : Object.fromEntries(rest);
}

function oddValue(random: Random): unknown {
  return random.pick([
    () => null,
    () => true,
    () => -1,
    () => 1.5,
    () => 4294967296,
    () => 1e300,
    () => '',
    () => '\0',
    () => '\ud800',
    () => 'ü🎈',
    () => [],
    () => ({}),
    () => [[[[]]]],
    () => 'x'.repeat(random.below(6000)),
    () => new Array(random.below(1200)).fill({}),
    () => nest(random.below(90)),
    () => ({ toString: null, length: -1 }),
    () => '10.0.0.1/24',
    () => '::/0',
    () => 'eth0',
  ])();
}

function nest(depth: number): unknown {
  return depth === 0 ? 'deep' : [nest(depth - 1)];
}
