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

/** Runs a task once, at a random time within `withinMs`, however often it was asked for until then. */
export function spreadOut(task: () => Promise<unknown>, withinMs: number, onFailure: (thrown: unknown) => void) {
  let timer: NodeJS.Timeout | null = null;
  const run = (): void => {
    timer = null;
    task().catch(onFailure);
  };
  return {
    ask: (): void => {
      timer ??= setTimeout(run, Math.random() * withinMs);
    },
    [Symbol.dispose]: (): void => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
