import { COMMON_FLAGS, type Command } from "../../src/cli/frame/command.ts";
import { describeSettings, type SettingRow } from "../../src/core/config/config.ts";

/** Lists all settings. A flag is listed only if a command has it. */
export function listSettings(commands: readonly Command[]): SettingRow[] {
  const common = COMMON_FLAGS.map(({ setting }) => setting);
  const taken = new Set([...commands.flatMap(({ settings = [] }) => settings), ...common]);
  return describeSettings().map((row) => ({ ...row, flag: taken.has(row.key) ? row.flag : undefined }));
}
