/** Runs a task repeatedly with a pause after each run, never two at once. Disposing waits for the current run. */
export function repeat(
  pauseMs: () => number,
  task: () => Promise<unknown>,
  onFailure: (thrown: unknown) => void,
): AsyncDisposable {
  let isOver = false;
  let timer: NodeJS.Timeout;
  let running: Promise<void> = Promise.resolve();
  const turn = async (): Promise<void> => {
    await task().catch(onFailure);
    if (!isOver) schedule();
  };
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = turn();
    }, pauseMs());
  };
  schedule();
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** A task that is asked for while it runs is run once more after that, for all who asked meanwhile. */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        running = task();
        return running;
      });
    return next;
  };
}
