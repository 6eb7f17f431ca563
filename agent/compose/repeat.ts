/** Runs a task again and again, with a pause after each end; never two at once. Disposing waits for the one under way. */
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
