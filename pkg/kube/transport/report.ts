/** Calls a handler that is told of trouble. What it throws itself harms nobody, and can only be shown as a warning. */
export function report(tell: () => void): void {
  try {
    tell();
  } catch (thrown) {
    process.emitWarning(thrown instanceof Error ? thrown : String(thrown), {
      detail: 'thrown by an onTrouble handler',
    });
  }
}
