import { UsageError } from "../../base/errors.ts";
import { inexactNumber } from "../../base/json-numbers.ts";
import { quoted } from "../../base/text.ts";
import {
  type Catchup,
  type Definition,
  HOOKS,
  type Hook,
  isHookUrl,
  type Overlap,
} from "../../schedule/definition.ts";
import { checkZone } from "../../schedule/zone.ts";
import { countFlag, durationFlag, listFlag, textFlag } from "../flags.ts";
import type { Call } from "../spec.ts";
import { instantFlag } from "./instant.ts";
import { checkLeases, checkName, wordsOf } from "./words.ts";

/** What was given, by field; null: to be taken away. A field that is not there was not given. */
export type Given = { [K in keyof Definition]?: Definition[K] | null };

type Flags = Pick<Call, "flags" | "command">;

/**
 * What the flags of `schedule add` and `edit` say.
 * @param zone  whose clock times without an offset mean, unless --timezone is given. @param now  ms since the epoch
 * @throws UsageError naming the flag
 */
export function givenIn(call: Flags, zone: string, now: number): Given {
  const timezone = cleared(call, "timezone", () => checkZone(textFlag(call, "timezone") ?? ""));
  return known({
    timezone,
    end: cleared(call, "end", () => instantFlag(call, "end", timezone ?? zone, now)),
    data: cleared(call, "data", () => json(textFlag(call, "data") ?? "")),
    command: commandOf(call),
    env: envOf(call),
    ...durations(call),
    retries: cleared(call, "retries", () => countFlag(call, "retries")),
    catchup: textFlag(call, "catchup") as Catchup | undefined,
    overlap: textFlag(call, "overlap") as Overlap | undefined,
    group: cleared(call, "group", () => checkName("group", textFlag(call, "group") ?? "")),
    leases: leasesOf(call),
    note: cleared(call, "note", () => textFlag(call, "note")),
  });
}

/** A definition with what was given. Hooks are given one by one. */
export function withGiven(before: Definition, given: Given, call: Flags): Definition {
  const merged = { ...before, ...given, ...hooksIn(call, before.hooks) };
  const there = Object.entries(merged).filter(([, value]) => value !== null && value !== undefined);
  const { timezone = "UTC", ...rest } = Object.fromEntries(there) as Partial<Definition> & { cron: string };
  return { ...rest, timezone };
}

/** DATA of a schedule. @throws UsageError */
export function json(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `data ${quoted(text)} is not JSON: ${(error as Error).message}; a text is written with its quotes: '"text"'`,
    );
  }
  const inexact = inexactNumber(text);
  if (inexact !== undefined) throw new UsageError(`data: ${inexact.detail}`);
  return value;
}

/** Undefined where a flag was not given, null where it takes the field away. */
function cleared<T>(call: Flags, name: string, value: () => T): T | null | undefined {
  const text = textFlag(call, name);
  if (text === undefined) return undefined;
  return text === "" ? null : value();
}

function durations(call: Flags) {
  const one = (name: string) => cleared(call, name, () => durationFlag(call, name));
  return {
    ...{ delay: one("delay"), jitter: one("jitter"), deadline: one("deadline") },
    ...{ timeout: one("timeout"), backoff: one("backoff") },
  };
}

function commandOf(call: Flags): readonly string[] | null | undefined {
  const line = cleared(call, "command", () => wordsOf("--command", textFlag(call, "command") ?? ""));
  if (call.command.length === 0) return line;
  if (line !== undefined) throw new UsageError("a command was given twice: with --command, and after --");
  return call.command;
}

function envOf(call: Flags): Record<string, string> | null | undefined {
  const list = listFlag(call, "env");
  if (list.length === 0) return undefined;
  if (list.every((one) => one === "")) return null;
  return Object.fromEntries(
    list.map((one) => {
      const [, name, value = ""] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(one) ?? [];
      if (name === undefined) throw new UsageError(`--env: ${quoted(one)} is not NAME=VALUE`);
      return [name, value];
    }),
  );
}

function leasesOf(call: Flags): readonly string[] | null | undefined {
  const list = listFlag(call, "lease");
  if (list.length === 0) return undefined;
  return list.every((one) => one === "") ? null : checkLeases(list);
}

function hooksIn(call: Flags, before: Definition["hooks"]): { hooks?: Definition["hooks"] | null } {
  const given = HOOKS.flatMap((name): [string, Hook | null][] => {
    const hook = cleared(call, `hook-${name}`, () => hookOf(name, textFlag(call, `hook-${name}`) ?? ""));
    return hook === undefined ? [] : [[name, hook]];
  });
  if (given.length === 0) return {};
  const merged = Object.entries({ ...before, ...Object.fromEntries(given) }).filter(
    ([, hook]) => hook !== null,
  );
  return { hooks: merged.length === 0 ? null : (Object.fromEntries(merged) as Definition["hooks"] & object) };
}

function hookOf(name: string, text: string): Hook {
  if (!/^https?:\/\//i.test(text)) return wordsOf(`--hook-${name}`, text);
  if (isHookUrl(text)) return text;
  throw new UsageError(`--hook-${name}: ${quoted(text)} is no URL that could be called`);
}

function known(given: Record<string, unknown>): Given {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given;
}
