import { UsageError } from "../../base/errors.ts";
import { findInexactNumber } from "../../base/json-numbers.ts";
import { quoteText } from "../../base/text.ts";
import { type LeaseSpec, parseLeases } from "../../fleet/lease-spec.ts";
import { parseResourceConfig } from "../../fleet/resources.ts";
import { commitWithRetries } from "../../observe/ports.ts";
import { validateName } from "../../protocol/names.ts";
import { findFirstKey } from "../../protocol/txn.ts";
import { type ExclusionRule, listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { checkZone } from "../../schedule/cron/zone.ts";
import type { Definition } from "../../schedule/definition.ts";
import {
  type Catchup,
  type ChainCondition,
  HOOK_NAMES,
  type Hook,
  MAX_PRIORITY,
  MOST_KEPT,
  type Overlap,
  type RemovalCondition,
} from "../../schedule/definition-values.ts";
import { HOOK_ADDRESS_FORM, parseHookAddress, resemblesHookAddress } from "../../schedule/hook-address.ts";
import { parseShellCommands, UNKNOWN } from "../../syntax/shell-parser.ts";
import { parseCountFlag, parseDurationFlag, type TextCall } from "../command-line/flags.ts";
import { parseInstantFlag } from "../command-line/instant.ts";
import { type Call, toFlags } from "../spec.ts";
import type { CommandContext } from "../store-command.ts";
import type { DefinitionFlags } from "./definition-flags.ts";
import { DEFINITION_FLAGS } from "./definition-flags.ts";

/** The given fields; null removes a field. Fields that were not given are absent. */
type GivenFields = { [K in keyof Definition]?: Definition[K] | null };

type DefinitionCall = Pick<Call<DefinitionFlags>, "flags" | "command">;

/**
 * Parses the flags of `schedule add` and `edit`.
 * @param zone  time zone of times without an offset, unless --timezone is given
 * @param now  ms since the epoch
 * @throws UsageError with the name of the flag
 */
export function parseGivenFields(call: DefinitionCall, zone: string, now: number): GivenFields {
  const zoneName = call.flags.timezone;
  if (zoneName === "") throw new UsageError("--timezone must not be empty; write UTC, or leave it out");
  const timezone = zoneName === undefined ? undefined : checkZone(zoneName);
  return dropUndefined({
    timezone,
    end: parseClearable(call, "end", () => parseInstantFlag(call, "end", timezone ?? zone, now)),
    data: parseClearable(call, "data", () => parseDataJson(call.flags.data ?? "")),
    command: parseCommandField(call),
    env: parseEnvField(call),
    ...parseDurationFields(call),
    retries: parseClearable(call, "retries", () => parseCountFlag(call, "retries")),
    after: parseClearable(call, "after", () => parseNameList("schedule", call.flags.after ?? "")),
    except: parseClearable(call, "except", () => parseNameList("calendar", call.flags.except ?? "")),
    only: parseClearable(call, "only", () => parseNameList("calendar", call.flags.only ?? "")),
    ifExcluded: call.flags["if-excluded"] as ExclusionRule | undefined,
    on: parseClearable(call, "on", () => call.flags.on as ChainCondition),
    keep: parseKeepField(call),
    priority: parseClearable(call, "priority", () => parsePriority(call.flags.priority ?? "")),
    removeAfter: parseClearable(call, "remove-after", () => call.flags["remove-after"] as RemovalCondition),
    catchup: call.flags.catchup as Catchup | undefined,
    overlap: call.flags.overlap as Overlap | undefined,
    group: parseClearable(call, "group", () => validateName("group", call.flags.group ?? "")),
    leases: parseLeaseField(call),
    tags: parseTagField(call),
    note: parseClearable(call, "note", () => call.flags.note),
  });
}

/** Applies the given fields to a definition. Hooks are merged one by one. */
export function applyGivenFields(before: Definition, given: GivenFields, call: DefinitionCall): Definition {
  const merged = { ...before, ...given, ...parseHooks(call, before.hooks) };
  const there = Object.entries(merged).filter(([, value]) => value !== null && value !== undefined);
  const { timezone = "UTC", ...rest } = Object.fromEntries(there) as Partial<Definition> & { cron: string };
  if (given.on && rest.after === undefined)
    throw new UsageError("--on needs --after: the schedules whose ends it is about");
  if (given.ifExcluded && listCalendarNames(rest).length === 0)
    throw new UsageError("--if-excluded needs --except or --only: the calendars that exclude days");
  return { ...rest, timezone };
}

/** Checks that no field of a new schedule is given an empty value, for example by an unset variable. @throws UsageError */
export function checkNoneEmpty({ flags }: { flags: Readonly<Record<string, unknown>> }): void {
  const empty = toFlags(DEFINITION_FLAGS).find(({ name }) => [flags[name]].flat().includes(""));
  if (empty !== undefined) throw new UsageError(`--${empty.name} must not be empty; leave it out`);
}

/** Parses DATA of a schedule. @throws UsageError */
export function parseDataJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `data ${quoteText(text)} is not JSON: ${(error as Error).message}; write a text with quotes: '"text"'`,
    );
  }
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) throw new UsageError(`data: ${inexact.detail}`);
  return value;
}

/**
 * Parses a flag that an empty value clears.
 * @returns undefined if it was not given, null if it clears the field
 */
function parseClearable<T, Name extends string>(
  { flags }: TextCall<Name>,
  name: Name,
  value: () => T,
): T | null | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  return text === "" ? null : value();
}

function parseDurationFields(call: DefinitionCall) {
  const parseDurationField = (name: "delay" | "jitter" | "deadline" | "timeout" | "backoff" | "keep-for") =>
    parseClearable(call, name, () => parseDurationFlag(call, name));
  return {
    delay: parseDurationField("delay"),
    jitter: parseDurationField("jitter"),
    deadline: parseDurationField("deadline"),
    timeout: parseDurationField("timeout"),
    backoff: parseDurationField("backoff"),
    keepFor: parseDurationField("keep-for"),
  };
}

function parseKeepField(call: DefinitionCall): number | null | undefined {
  const keep = parseClearable(call, "keep", () => parseCountFlag(call, "keep"));
  if (typeof keep !== "number" || (keep >= 1 && keep <= MOST_KEPT)) return keep;
  throw new UsageError(`--keep must be a whole number from 1 to ${MOST_KEPT}; got "${keep}"`);
}

function parseCommandField(call: DefinitionCall): readonly string[] | null | undefined {
  const line = parseClearable(call, "command", () =>
    parseCommandWords("--command", call.flags.command ?? ""),
  );
  if (call.command.length === 0) return line;
  if (line !== undefined)
    throw new UsageError("COMMAND was given twice: with --command and after --; leave one of them out");
  return call.command;
}

/** Parses --env. @returns undefined if it was not given, null if it clears the field. @throws UsageError */
export function parseEnvField(call: {
  flags: { readonly env?: readonly string[] };
}): Record<string, string> | null | undefined {
  const list = call.flags.env ?? [];
  if (list.length === 0) return undefined;
  if (list.every((one) => one === "")) return null;
  return Object.fromEntries(
    list.map((one) => {
      const [, name, value = ""] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(one) ?? [];
      if (name === undefined) throw new UsageError(`--env must be NAME=VALUE; got ${quoteText(one)}`);
      return [name, value];
    }),
  );
}

function parseLeaseField(call: DefinitionCall): readonly string[] | null | undefined {
  const list = call.flags.lease ?? [];
  if (list.length === 0) return undefined;
  return list.every((one) => one === "") ? null : checkLeases(list);
}

function parsePriority(text: string): number {
  const priority = /^-?\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(priority) <= MAX_PRIORITY) return priority;
  throw new UsageError(
    `--priority must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}; got ${quoteText(text)}`,
  );
}

function parseNameList(what: string, text: string): readonly string[] {
  return text.split(",").map((name) => validateName(what, name.trim()));
}

function parseTagField(call: DefinitionCall): readonly string[] | null | undefined {
  const list = call.flags.tag ?? [];
  if (list.length === 0) return undefined;
  if (list.every((one) => one === "")) return null;
  const bad = list.find((tag) => !/^[^\s,]{1,100}$/.test(tag));
  if (bad !== undefined)
    throw new UsageError(`--tag must be a word without spaces and commas; got ${quoteText(bad)}`);
  return [...new Set(list)];
}

function parseHooks(
  call: DefinitionCall,
  before: Definition["hooks"],
): { hooks?: Definition["hooks"] | null } {
  const given = HOOK_NAMES.flatMap((name): [string, Hook | null][] => {
    const hook = parseClearable(call, `hook-${name}`, () =>
      parseHook(`--hook-${name}`, call.flags[`hook-${name}`] ?? ""),
    );
    return hook === undefined ? [] : [[name, hook]];
  });
  if (given.length === 0) return {};
  const merged = Object.entries({ ...before, ...Object.fromEntries(given) }).filter(
    ([, hook]) => hook !== null,
  );
  return { hooks: merged.length === 0 ? null : (Object.fromEntries(merged) as Definition["hooks"] & object) };
}

/** Parses a hook. @param what  the name of the flag or argument, for the message. @throws UsageError */
export function parseHook(what: string, text: string): Hook {
  if (!resemblesHookAddress(text)) return parseCommandWords(what, text);
  if (parseHookAddress(text) !== undefined) return text;
  throw new UsageError(`${what} must be a command line, or ${HOOK_ADDRESS_FORM}; got ${quoteText(text)}`);
}

function dropUndefined(given: Record<string, unknown>): GivenFields {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as GivenFields;
}

/**
 * Splits a line into the words of one command, without a shell. Quotes and backslashes mean what they mean in a shell.
 * @throws UsageError if the line needs a shell
 */
export function parseCommandWords(what: string, line: string): readonly string[] {
  const read = parseShellCommands(line, new Map());
  if ("fault" in read) throw new UsageError(`${what}: ${quoteText(line)}: ${read.fault}`);
  const [only, ...more] = read.value;
  if (only === undefined) throw new UsageError(`${what} must have a command; got ${quoteText(line)}`);
  const isPlain = more.length === 0 && only.next === "" && !/[<>]/.test(removeQuoted(line));
  if (!isPlain || only.words.some((word) => word.includes(UNKNOWN)))
    throw new UsageError(
      `${what}: ${quoteText(line)} needs a shell, but commands run without one; write: sh -c ${quoteText(line)}`,
    );
  return only.words;
}

function removeQuoted(line: string): string {
  return line.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, "");
}

/**
 * Checks leases in the form of `--lease`. Totals and names may contain macros, which only hosts can evaluate.
 * @throws UsageError
 */
function checkLeases(leases: readonly string[]): readonly string[] {
  for (const lease of leases) {
    if (!/^[^=]+=[^:=]+(?::.+)?$/s.test(lease))
      throw new UsageError(
        `--lease must be RESOURCE=COUNT[:TOTAL], such as db=2:10; got ${quoteText(lease)}`,
      );
  }
  parsePlainLeases(leases);
  return leases;
}

/** Parses the leases whose amounts contain no macro. Macros in names stay. @throws UsageError */
function parsePlainLeases(leases: readonly string[]): LeaseSpec[] {
  const plain = leases.filter((lease) => !/=.*[A-Z]/s.test(lease));
  return parseLeases(plain, {
    lookup: () => undefined,
    expand: (name) => name,
    findTemplate: () => undefined,
  });
}

/** Lists a note about a command whose program is named by a relative path. */
export function listProgramNotes(command: readonly string[] | undefined): string[] {
  const [file = ""] = command ?? [];
  return file.includes("/") && !file.startsWith("/")
    ? [
        `${quoteText(file)} is a path in the working folder of the worker that runs it; write an absolute path`,
      ]
    : [];
}

/**
 * Checks that leases fit the configured totals of their resources. Amounts and totals with macros are not checked, nor
 * those that the user's role must not read.
 * @throws UsageError
 */
export async function checkConfiguredTotals(
  context: CommandContext,
  leases: readonly string[] = [],
): Promise<void> {
  const plain = parsePlainLeases(leases);
  if (plain.length === 0) return;
  const success = plain.map(
    ({ resource }) => ({ op: "range", key: context.keys.resourceConfig(resource) }) as const,
  );
  const txn = { compare: [], success, failure: [] };
  const answer = await commitWithRetries(context, txn, context.signal).catch(() => undefined);
  for (const [index, { resource, count }] of plain.entries()) {
    const kv = findFirstKey(answer?.results[index]);
    if (kv === undefined) continue;
    const config = parseResourceConfig(kv.value);
    const total = "value" in config ? Number(config.value.total) : Number.NaN;
    if (count > total)
      throw new UsageError(
        `--lease: ${count} units of resource ${quoteText(resource)} are requested, but there are only ${total}; ask for fewer, or change the total: signalbox resource set`,
      );
  }
}
