import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';

type Token = 'star' | ((point: string) => boolean);

const ASCII_CODES = 128;
const ASCII = /^[\0-\x7f]*$/;

/** Patterns of Go's filepath.Match, because that is what users of Spiderpool have written. */
export function compilePattern(pattern: string): (name: string) => boolean {
  const tokens = tokenize(pattern);
  const needed = countNeeded(tokens);
  return (name) => matches(tokens, needed, ASCII.test(name) ? name : [...name]);
}

/** How many characters a name must still have, from each token on. */
function countNeeded(tokens: readonly Token[]): readonly number[] {
  const needed = [0];
  for (const token of tokens.toReversed()) needed.unshift((needed[0] ?? 0) + Number(token !== 'star'));
  return needed;
}

/**
 * Only the last star is ever stretched, as in Go, and only while what follows has room: at most name² / 4 steps, whatever
 * the pattern.
 */
function matches(tokens: readonly Token[], needed: readonly number[], name: ArrayLike<string>): boolean {
  if (name.length < (needed[0] ?? 0)) return false;
  let at = 0;
  let token = 0;
  let lastStar = -1;
  let starEnd = 0;
  while (at < name.length || token < tokens.length) {
    const wanted = tokens[token];
    const point = name[at];
    if (wanted === 'star') {
      lastStar = token;
      starEnd = at;
      token += 1;
    } else if (wanted !== undefined && point !== undefined && wanted(point)) {
      at += 1;
      token += 1;
    } else {
      const swallowed = name[starEnd];
      if (lastStar === -1 || swallowed === undefined || swallowed === '/') return false;
      starEnd += 1;
      at = starEnd;
      token = lastStar + 1;
      if (name.length - at < (needed[token] ?? 0)) return false;
    }
  }
  return true;
}

function tokenize(pattern: string): Token[] {
  const points = [...pattern];
  const tokens: Token[] = [];
  let at = 0;
  while (at < points.length) {
    const point = points[at];
    if (point === '[') {
      const parsed = parseClass(pattern, points, at + 1);
      tokens.push(parsed.token);
      at = parsed.end;
    } else if (point === '*') {
      tokens.push('star');
      at += 1;
    } else if (point === '?') {
      tokens.push((seen) => seen !== '/');
      at += 1;
    } else {
      const literal = literalAt(pattern, points, at);
      tokens.push((seen) => seen === literal.point);
      at = literal.end;
    }
  }
  return tokens;
}

/** `at` is behind the `[`. A class is never empty, and `-` and `]` stand in it only escaped. */
function parseClass(pattern: string, points: readonly string[], at: number): { token: Token; end: number } {
  const negated = points[at] === '^';
  const ranges: { low: number; high: number }[] = [];
  let end = negated ? at + 1 : at;
  while (points[end] !== ']' || ranges.length === 0) {
    const low = boundAt(pattern, points, end);
    const high = points[low.end] === '-' ? boundAt(pattern, points, low.end + 1) : low;
    ranges.push({ low: low.code, high: high.code });
    end = high.end;
  }
  const isWithin = (code: number) => ranges.some(({ low, high }) => low <= code && code <= high);
  // A class may have a hundred ranges, and is asked for every character of every pool's name.
  const ascii = Array.from({ length: ASCII_CODES }, (_, code) => isWithin(code));
  const isInside = (code: number) => ascii[code] ?? isWithin(code);
  return { token: (seen) => isInside(codeOf(seen)) !== negated, end: end + 1 };
}

function boundAt(pattern: string, points: readonly string[], at: number): { code: number; end: number } {
  if (points[at] === '-' || points[at] === ']') throw malformed(pattern);
  const { point, end } = literalAt(pattern, points, at);
  return { code: codeOf(point), end };
}

function literalAt(pattern: string, points: readonly string[], at: number): { point: string; end: number } {
  const isEscaped = points[at] === '\\';
  const point = points[isEscaped ? at + 1 : at];
  if (point === undefined) throw malformed(pattern);
  return { point, end: isEscaped ? at + 2 : at + 1 };
}

function codeOf(point: string): number {
  return point.codePointAt(0) ?? 0;
}

function malformed(pattern: string): IpamError {
  return new IpamError('bad-input', `malformed pattern ${quote(pattern)}`);
}
