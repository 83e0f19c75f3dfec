import { SignalboxError } from "../../base/errors.ts";
import { nameFault, quoted } from "../../base/text.ts";
import { parseCall } from "../../commands/parse.ts";
import { run } from "../../commands/run/run.ts";
import { resolveConfig } from "../../config/config.ts";
import { type SettingKey, settingOf } from "../../config/settings.ts";
import type { AsRun } from "../as-run.ts";
import { hasMark, type Markers } from "./markers.ts";
import { Refusal } from "./refusal.ts";

/** A line that a run would refuse, by its own parser and settings, is no translation. @throws Refusal */
export function checkAccepted({ options, command }: AsRun, markers: Markers): void {
  const fault = faultOf([...options, "--", ...command]);
  if (fault !== undefined) throw new Refusal(`signalbox run would not take it: ${markers.written(fault)}`);
}

function faultOf(words: readonly string[]): string | undefined {
  try {
    const { flags, settings } = parseCall(run, words);
    // How to get in is known where the line runs; what stands for a value has none yet.
    const known = Object.entries(settings).filter(
      ([key, value]) => settingOf(key as SettingKey).credential !== true && !hasMark(String(value)),
    );
    resolveConfig({ flags: Object.fromEntries(known), readFile: () => undefined });
    const fault = typeof flags.lock === "string" ? nameFault(flags.lock) : undefined;
    return fault === undefined ? undefined : `lock name ${quoted(String(flags.lock))}: ${fault}`;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}
