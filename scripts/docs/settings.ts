import type { Command } from "../../src/commands/spec.ts";
import { describeSettings, type SettingRow } from "../../src/config/config.ts";
import type { SettingKey } from "../../src/config/settings.ts";

/** Lists all settings. A flag is listed only if a command has it. */
export function listSettings(commands: readonly Command[]): SettingRow[] {
  const taken = new Set<SettingKey>(commands.flatMap(({ settings = [] }) => settings));
  return describeSettings().map((row) => ({ ...row, flag: taken.has(row.key) ? row.flag : undefined }));
}
