import { InterruptedError } from "./store-command.ts";

/**
 * Ignores Ctrl+C, which belongs to the editor: the process must not end, or the text would be lost. Other signals
 * abort.
 */
export function ignoreCtrlC(signal: AbortSignal): AbortSignal {
  const stop = new AbortController();
  signal.addEventListener("abort", () => {
    const { reason } = signal;
    if (!(reason instanceof InterruptedError) || reason.exitCode !== 130) stop.abort(reason);
  });
  return stop.signal;
}
