/** Calls a handler that reports trouble. If the handler itself throws, that is shown as a process warning only. */
export function report(callback: () => void): void {
  try {
    callback();
  } catch (thrown) {
    process.emitWarning(thrown instanceof Error ? thrown : String(thrown), {
      detail: 'thrown by an onTrouble handler',
    });
  }
}
