/** The promise's value, or null when the time is up or the signal fires first; the promise itself goes on. */
export function within<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal | undefined): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => settle(() => resolve(null));
    const timer = setTimeout(giveUp, timeoutMs);
    signal?.addEventListener('abort', giveUp, { once: true });
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      end();
    };
    promise.then(
      (value) => settle(() => resolve(value)),
      (thrown) => settle(() => reject(thrown)),
    );
    if (signal?.aborted) giveUp();
  });
}
