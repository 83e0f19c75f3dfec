import { SignalboxError } from "../../../base/errors.ts";
import { findNameFault, quoteText } from "../../../base/text.ts";
import { parseCall } from "../../../commands/command-line/parse-call.ts";
import { runCommand } from "../../../commands/run/run.ts";
import { resolveConfig } from "../../../config/config.ts";
import { getSetting, type SettingKey } from "../../../config/settings.ts";
import type { TranslatedRun } from "../../translated-run.ts";
import { hasMark, type Markers } from "./markers.ts";
import { UntranslatableError } from "./untranslatable-error.ts";

/**
 * Checks that `signalbox run` would accept a translation, with its own parser and settings. @throws
 * UntranslatableError
 */
export function checkAccepted({ options, command }: TranslatedRun, markers: Markers): void {
  const fault = findFault([...options, "--", ...command]);
  if (fault !== undefined)
    throw new UntranslatableError(`signalbox run would refuse it: ${markers.restoreSource(fault)}`);
}

function findFault(words: readonly string[]): string | undefined {
  try {
    const { flags, settings } = parseCall(runCommand, words);
    // Credentials are only known where the line runs, and marks have no value yet.
    const known = Object.entries(settings).filter(
      ([key, value]) => getSetting(key as SettingKey).credential !== true && !hasMark(String(value)),
    );
    resolveConfig({ flags: Object.fromEntries(known), readFile: () => undefined });
    const fault = typeof flags.lock === "string" ? findNameFault(flags.lock) : undefined;
    return fault === undefined ? undefined : `lock name ${quoteText(String(flags.lock))}: ${fault}`;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}
