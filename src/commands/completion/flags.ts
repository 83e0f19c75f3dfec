import { describeSettings } from "../../config/config.ts";
import type { SettingKey } from "../../config/settings.ts";
import { type Argument, COMMON_FLAGS, type Command, type Flag, type NameKind } from "../spec.ts";

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

export function listCompletionFlags({ flags = [], settings = [], takesWords }: Command): CompletionFlag[] {
  const wanted = describeSettings().filter(({ key }) => settings.includes(key));
  return [
    ...[...flags, ...(takesWords ? [] : COMMON_FLAGS)].map(toCompletionFlag),
    ...wanted.flatMap(toSettingFlags),
  ];
}

export function getArgumentValues({ name, choices, names }: Argument): CompletionValues {
  const isFile = choices === undefined && ["FILE", "COMMAND", "ARG"].includes(name);
  return { choices, names: toList(names), isFile };
}

function toCompletionFlag({ name, short, aliases = [], value, ...flag }: Flag): CompletionFlag {
  const others = [...(short === undefined ? [] : [`-${short}`]), ...aliases.map((alias) => `--${alias}`)];
  return {
    names: [`--${name}`, ...others],
    takesValue: value !== undefined && !flag.isOptional,
    isRepeatable: flag.isRepeatable === true,
    ...(name === "config" && { setting: name }),
    values: {
      choices: flag.choices,
      names: toList(flag.names),
      isFile: value === "FILE",
      ...(value?.includes("=") && { suffix: "=" }),
    },
  };
}

function toSettingFlags({
  key,
  flag,
  short,
  kind,
  standard,
}: ReturnType<typeof describeSettings>[number]): CompletionFlag[] {
  if (flag === undefined) return [];
  const isSwitch = standard === "true" || standard === "false";
  return [
    {
      names: [flag, ...(short === undefined ? [] : [`-${short}`])],
      takesValue: !isSwitch,
      isRepeatable: key === "endpoints",
      setting: key,
      values: {
        choices: /^[a-z]+(\|[a-z]+)+$/.test(kind) && !isSwitch ? kind.split("|") : undefined,
        names: toList(NAMING[key]),
        isFile: kind === "FILE",
      },
    },
  ];
}

function toList(names: NameKind | readonly NameKind[] | undefined): readonly NameKind[] | undefined {
  return typeof names === "string" ? [names] : names;
}
