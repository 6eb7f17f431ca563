import { type Document, isNode, isScalar, type LineCounter, visit } from 'yaml';

const PATH = /^([A-Za-z0-9_.[\]/-]+): /;

/** The line of the field that a decoder's message (`spec.ips[2]: …`) names, or of its nearest parent in the file. */
export function lineOfPath(document: Document, lines: LineCounter, message: string): number {
  const path = toKeys(PATH.exec(message)?.[1] ?? '');
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node: unknown = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range != null) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function toKeys(path: string): (string | number)[] {
  return path
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((key) => key !== '')
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}

/** The check of the library compares every key with every other, which takes seconds for a long file. */
export function findRepeatedKey(document: Document): { readonly key: string; readonly at: number } | null {
  let found: { key: string; at: number } | null = null;
  visit(document, {
    Map(_key, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const text = String(key.value);
        if (seen.has(text)) found ??= { key: text, at: key.range?.[0] ?? 0 };
        seen.add(text);
      }
    },
  });
  return found;
}
