import { describeSettings } from "../../config/config.ts";
import type { SettingKey } from "../../config/settings.ts";
import { type Argument, COMMON, type Command, type Flag, type NameKind } from "../spec.ts";

/** What may stand for a flag or an argument. */
export interface Values {
  choices?: readonly string[] | undefined;
  /** Names in etcd. */
  names?: readonly NameKind[] | undefined;
  isFile?: boolean;
  /** A name is only its beginning, as in `--lease db=2`: this comes next. */
  suffix?: "=";
}

/** A flag as completion sees it. */
export interface Known {
  /** As they are typed; the first one is offered. */
  names: readonly string[];
  takesValue: boolean;
  isRepeatable: boolean;
  /** The setting that it sets. */
  setting?: SettingKey | "config";
  values: Values;
}

/** Settings whose values name something. */
const NAMING: Partial<Record<SettingKey, NameKind>> = { group: "group", host: "host" };

export function flagsOf({ flags = [], settings = [], takesWords }: Command): Known[] {
  const wanted = describeSettings().filter(({ key }) => settings.includes(key));
  return [...[...flags, ...(takesWords ? [] : COMMON)].map(ownFlag), ...wanted.flatMap(settingFlag)];
}

export function valuesOf({ name, choices, names }: Argument): Values {
  const isFile = choices === undefined && ["FILE", "COMMAND", "ARG"].includes(name);
  return { choices, names: listed(names), isFile };
}

function ownFlag({ name, short, aliases = [], value, ...flag }: Flag): Known {
  const others = [...(short === undefined ? [] : [`-${short}`]), ...aliases.map((alias) => `--${alias}`)];
  return {
    names: [`--${name}`, ...others],
    takesValue: value !== undefined && !flag.isOptional,
    isRepeatable: flag.isRepeatable === true,
    ...(name === "config" && { setting: name }),
    values: {
      choices: flag.choices,
      names: listed(flag.names),
      isFile: value === "FILE",
      ...(value?.includes("=") && { suffix: "=" }),
    },
  };
}

function settingFlag({
  key,
  flag,
  short,
  kind,
  standard,
}: ReturnType<typeof describeSettings>[number]): Known[] {
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
        names: listed(NAMING[key]),
        isFile: kind === "FILE",
      },
    },
  ];
}

function listed(names: NameKind | readonly NameKind[] | undefined): readonly NameKind[] | undefined {
  return typeof names === "string" ? [names] : names;
}
