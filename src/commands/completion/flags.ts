import type { SettingKey } from "../../config/settings.ts";
import type { Argument, Flag, NameKind } from "../spec.ts";

/** The possible values of a flag or an argument. */
export interface CompletionValues {
  choices?: readonly string[] | undefined;
  /** Kinds of names in etcd. */
  names?: readonly NameKind[] | undefined;
  isFile?: boolean;
  /** Text that follows the name, as in `--lease db=2`. */
  suffix?: "=";
}

/** Settings whose values are names in etcd. */
const NAMING: Partial<Record<SettingKey, NameKind>> = { group: "group", host: "host" };

export function getArgumentValues({ name, choices, names }: Argument): CompletionValues {
  const isFile = choices === undefined && ["FILE", "COMMAND", "ARG"].includes(name);
  return { choices, names: toList(names), isFile };
}

export function getFlagValues({ value = "", setting, choices, names }: Flag): CompletionValues {
  const isChoice = setting !== undefined && /^[a-z]+(\|[a-z]+)+$/.test(value);
  return {
    choices: isChoice ? value.split("|") : choices,
    names: toList(names ?? NAMING[setting as SettingKey]),
    isFile: value === "FILE",
    ...(setting === undefined && value.includes("=") && { suffix: "=" }),
  };
}

/** Whether the value of a flag may be the next word. */
export function takesNextWord({ value, isOptional }: Flag): boolean {
  return value !== undefined && !isOptional;
}

function toList(names: NameKind | readonly NameKind[] | undefined): readonly NameKind[] | undefined {
  return typeof names === "string" ? [names] : names;
}
