import { type Document, isNode, type LineCounter } from 'yaml';

const PATH = /^([A-Za-z0-9_.[\]/-]+): /;

/** The line that a decoder's message (`spec.ips[2]: …`) speaks of, or of the nearest parent that stands in the file. */
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
