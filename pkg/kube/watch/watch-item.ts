import { isMap, type KubeObject, readObject } from '#pkg/kube/objects/kube-object.ts';
import { type Failure, failure, parseJson, readFailure } from '#pkg/kube/objects/outcome.ts';

/** One line of a watch. A bookmark says only how far the server has come. */
export type WatchItem =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export function readWatchItem(line: string): WatchItem | Failure {
  const value = parseJson(line);
  if (!isMap(value)) return failure('BadAnswer', 'a line of the watch is not JSON');
  const { type, object } = value;
  if (type === 'ERROR') return readError(object);
  if (type === 'BOOKMARK') return readBookmark(object);
  const read = readObject(object);
  if (read === null || (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED')) {
    return failure('BadAnswer', 'a line of the watch is no event');
  }
  return { type, object: read };
}

function readError(status: unknown): Failure {
  const code = isMap(status) ? status['code'] : undefined;
  return readFailure(typeof code === 'number' ? code : 500, status, { plural: '' });
}

function readBookmark(object: unknown): WatchItem | Failure {
  const metadata = isMap(object) ? object['metadata'] : undefined;
  const resourceVersion = isMap(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof resourceVersion === 'string' && resourceVersion !== ''
    ? { type: 'BOOKMARK', resourceVersion }
    : failure('BadAnswer', 'a bookmark without a resourceVersion');
}
