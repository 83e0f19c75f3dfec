import { constants } from "node:os";
import { UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import type { Settings } from "../../config/settings.ts";
import type { Call } from "../spec.ts";

/**
 * Reads what timeout(1) has too: the signal at the end of `--timeout` and `--max-hold`, and whose exit code counts then.
 * @throws UsageError
 */
export function readLimitOptions({ flags }: Call, settings: Settings) {
  const { signal, "preserve-status": preservesStatus } = flags;
  if (settings.timeout === undefined && settings.maxHold === undefined)
    for (const [name, value] of Object.entries({ signal, "preserve-status": preservesStatus }))
      if (value !== undefined)
        throw new UsageError(`--${name} has an effect only with --timeout or --max-hold; add one of them`);
  return {
    ...(typeof signal === "string" && { limitSignal: parseSignal(signal) }),
    ...(preservesStatus === true && { preservesStatus }),
  };
}

/** Parses `INT`, `SIGINT`, `int` or `2`, as kill(1) does. @throws UsageError */
function parseSignal(text: string): NodeJS.Signals {
  const name = text.toUpperCase();
  const found = Object.entries(constants.signals).find(
    ([full, number]) => full === name || full === `SIG${name}` || String(number) === text,
  );
  if (found !== undefined) return found[0] as NodeJS.Signals;
  throw new UsageError(`--signal must be a signal such as INT, HUP or KILL; got ${quoteText(text)}`);
}
