import type { SettingKey } from "../../config/settings.ts";
import { listFlags, listSpellings } from "../command-line/list-flags.ts";
import type { Argument, Command, Flag, NameKind } from "../spec.ts";

/** The possible values of a flag or an argument. */
export interface CompletionValues {
  choices?: readonly string[] | undefined;
  /** Kinds of names in etcd. */
  names?: readonly NameKind[] | undefined;
  isFile?: boolean;
  /** Text that follows the name, as in `--lease db=2`. */
  suffix?: "=";
}

/** A flag for completion. */
export interface CompletionFlag {
  /** All spellings; the first one is offered. */
  names: readonly string[];
  takesValue: boolean;
  isRepeatable: boolean;
  /** The setting that it sets. */
  setting?: SettingKey | "config";
  values: CompletionValues;
}

/** Settings whose values are names in etcd. */
const NAMING: Partial<Record<SettingKey, NameKind>> = { group: "group", host: "host" };

export function listCompletionFlags(command: Command): CompletionFlag[] {
  return listFlags(command).map(toCompletionFlag);
}

export function getArgumentValues({ name, choices, names }: Argument): CompletionValues {
  const isFile = choices === undefined && ["FILE", "COMMAND", "ARG"].includes(name);
  return { choices, names: toList(names), isFile };
}

function toCompletionFlag(flag: Flag): CompletionFlag {
  const { value, setting, isOptional, isRepeatable } = flag;
  const isChoice = setting !== undefined && /^[a-z]+(\|[a-z]+)+$/.test(value ?? "");
  return {
    names: listSpellings(flag),
    takesValue: value !== undefined && !isOptional,
    isRepeatable: isRepeatable === true,
    ...(setting !== undefined && { setting }),
    values: {
      choices: isChoice ? value?.split("|") : flag.choices,
      names: toList(flag.names ?? NAMING[setting as SettingKey]),
      isFile: value === "FILE",
      ...(setting === undefined && value?.includes("=") && { suffix: "=" }),
    },
  };
}

function toList(names: NameKind | readonly NameKind[] | undefined): readonly NameKind[] | undefined {
  return typeof names === "string" ? [names] : names;
}
