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
