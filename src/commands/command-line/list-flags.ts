import { getFlagName, getSetting, type SettingKey } from "../../config/settings.ts";
import { COMMON_FLAGS, type Command, type Flag } from "../spec.ts";

/** Lists the flags of a command: its own, those of every command, and those of its settings. */
export function listFlags({ flags = [], settings = [], takesWords }: Command): Flag[] {
  return [...flags, ...(takesWords ? [] : COMMON_FLAGS), ...settings.flatMap(toSettingFlag)];
}

/** Lists the spellings of a flag: `--lock`, `--lockname`, `-l`. */
export function listSpellings({ name, aliases = [], short }: Flag): string[] {
  return [...[name, ...aliases].map((one) => `--${one}`), ...(short === undefined ? [] : [`-${short}`])];
}

/** Converts a setting to its flag. A setting that is on or off takes no value. */
function toSettingFlag(setting: SettingKey): Flag[] {
  const { kind, default: standard, short, help } = getSetting(setting);
  const flag = getFlagName(setting);
  if (flag === undefined) return [];
  return [
    {
      name: flag.slice(2),
      setting,
      help,
      ...(short !== undefined && { short }),
      ...(typeof standard !== "boolean" && { value: kind.name }),
      ...(setting === "endpoints" && { isRepeatable: true }),
    },
  ];
}
