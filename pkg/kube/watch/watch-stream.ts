import { type ClientHttp2Stream, constants } from 'node:http2';
import { type Failure, failure } from '#pkg/kube/objects/outcome.ts';
import { LineSplitter } from './line-splitter.ts';
import { readWatchItem, type WatchItem } from './watch-item.ts';

export interface WatchLimits {
  readonly maxLineBytes: number;
  /** After this time the watch is closed here, because the server should have ended it long ago. */
  readonly mostMs: number;
}

/** Passes on items until the watch ends. Returns null if the server ended it normally, as it does after `timeoutSeconds`. */
export function readWatch(
  stream: ClientHttp2Stream,
  { maxLineBytes, mostMs }: WatchLimits,
  onItem: (item: WatchItem) => void,
  signal: AbortSignal,
): Promise<Failure | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Failure | null>();
  const lines = new LineSplitter(maxLineBytes);
  let lastError: Error | undefined;

  const end = (because: Failure | null) => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    stream.off('data', take);
    stream.close(constants.NGHTTP2_CANCEL);
    resolve(because);
  };
  const abort = () => end(null);
  const timer = setTimeout(() => end(failure('Unknown', 'the server did not end the watch in time')), mostMs);
  signal.addEventListener('abort', abort, { once: true });

  const take = (chunk: Buffer) => {
    const complete = lines.push(chunk);
    if (complete === null) return end(failure('BadAnswer', `a line of the watch is longer than ${maxLineBytes} bytes`));
    for (const line of complete) {
      const item = readWatchItem(line);
      if ('ok' in item) return end(item);
      try {
        onItem(item);
      } catch (thrown) {
        reject(thrown);
        return end(null);
      }
    }
  };
  stream.on('data', take);
  stream.on('error', (error) => {
    lastError = error;
  });
  stream.on('close', () => {
    const isInOrder = stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR && !stream.aborted;
    end(isInOrder ? null : failure('Unknown', lastError?.message ?? 'the connection was lost'));
  });
  if (signal.aborted) abort();
  if (stream.destroyed) end(failure('Unknown', 'the connection was lost')); // its close event has passed
  return promise;
}
