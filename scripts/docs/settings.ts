import type { Command } from "../../src/commands/spec.ts";
import { describeSettings, type SettingRow } from "../../src/config/config.ts";
import type { SettingKey } from "../../src/config/settings.ts";

/** Every setting; with its flag only where some command takes it. */
export function listSettings(commands: readonly Command[]): SettingRow[] {
  const taken = new Set<SettingKey>(commands.flatMap(({ settings = [] }) => settings));
  return describeSettings().map((row) => ({ ...row, flag: taken.has(row.key) ? row.flag : undefined }));
}
