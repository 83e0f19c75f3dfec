import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { WallTime } from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { findCommandHint, quoteShellWord } from "../../../core/base/shell.ts";
import { collectTexts, quoteText } from "../../../core/base/text.ts";
import { type LeaseSpec, parseLeases } from "../../../core/fleet/lease-spec.ts";
import { parseResourceConfig } from "../../../core/fleet/resources.ts";
import { listCalendarNames } from "../../../schedule/calendar/day-rule.ts";
import { type Definition, runsOnEveryHost } from "../../../schedule/definition.ts";
import { EVERY_HOST, HOOK_NAMES, type Hook } from "../../../schedule/definition-values.ts";
import { readKeysIfAllowed } from "../../../site/observe/ports.ts";
import type { Call } from "../../frame/command.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { describeEndedProcess, findBackgroundProcess } from "../../syntax/background-process.ts";
import { type DefinitionFlags, listFieldFlags } from "./definition-flags.ts";

/** The given fields; null removes a field. Fields that were not given are absent. */
type GivenFields = { [K in keyof Definition]?: Definition[K] | null };

/**
 * Returns the fields that the flags of `schedule add` and `edit` give.
 * @param zone  time zone of times without an offset, unless --timezone is given
 * @throws UsageError with the name of the flag
 */
export function readGivenFields(
  { flags, command }: Pick<Call<DefinitionFlags>, "flags" | "command">,
  zone: string,
  now: WallTime,
): GivenFields {
  const { timezone, end, env, secret, "secret-file": secretFile, lease, tag } = flags;
  if (command.length > 0 && flags.command !== undefined)
    throw new UsageError("COMMAND was given twice: with --command and after --; leave one of them out");
  const given: Readonly<Record<string, unknown>> = {
    ...flags,
    ...(command.length > 0 && { command }),
    end: end === null ? null : end?.(timezone ?? zone, now).at,
    env: env && Object.fromEntries(env),
    secret: secret && Object.fromEntries(secret),
    "secret-file": secretFile && Object.fromEntries(secretFile),
    lease: lease && checkLeases(lease),
    tag: tag && [...new Set(tag)],
  };
  const fields = listFieldFlags().map(({ flag, field }) => [field, given[flag.name]]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as GivenFields;
}

/** Applies the given fields to a definition. Hooks are merged one by one. */
export function applyGivenFields(before: Definition, given: GivenFields, flags: DefinitionFlags): Definition {
  const merged = { ...before, ...given, ...mergeHooks(flags, before.hooks) };
  const there = Object.entries(merged).filter(([, value]) => value !== null && value !== undefined);
  const { timezone = "UTC", ...rest } = Object.fromEntries(there) as Partial<Definition> &
    Pick<Definition, "cron">;
  if (given.on && !runsOnEveryHost(given as Definition) && rest.after === undefined)
    throw new UsageError(
      `--on needs --after: the schedules whose ends it is about; without them it can only be ${EVERY_HOST}, got ${given.on}`,
    );
  if (given.ifExcluded && listCalendarNames(rest).length === 0)
    throw new UsageError("--if-excluded needs --except or --only: the calendars that exclude days");
  return { ...rest, timezone };
}

function mergeHooks(
  flags: DefinitionFlags,
  before: Definition["hooks"],
): { hooks?: Definition["hooks"] | null } {
  const given = HOOK_NAMES.flatMap((name): [string, Hook | null][] => {
    const hook = flags[`hook-${name}`];
    return hook === undefined ? [] : [[name, hook]];
  });
  if (given.length === 0) return {};
  const merged = Object.entries({ ...before, ...Object.fromEntries(given) }).filter(
    ([, hook]) => hook !== null,
  );
  return { hooks: merged.length === 0 ? null : (Object.fromEntries(merged) as Definition["hooks"] & object) };
}

/** Checks that no field of a new schedule is given an empty value, for example by an unset variable. @throws UsageError */
export function checkNoneEmpty(flags: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(flags))
    if (value === null || (Array.isArray(value) && value.includes("")))
      throw new UsageError(`--${name} must not be empty; leave it out`);
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

/**
 * Lists notes about a program that is named by a relative path or with its arguments, about limits of a user, and about processes
 * that it leaves in the background, if the definition has changed there.
 */
export function listDefinitionNotes(
  { command = [], folder, runAs }: Definition,
  before: Definition | undefined,
): string[] {
  const [file = ""] = command;
  const isNew = file !== before?.command?.[0];
  // A program whose name has blanks is meant if this host has it.
  const hint = file.startsWith("/") && existsSync(file) ? undefined : findCommandHint(file);
  return collectTexts([
    isNew && hint !== undefined && `${quoteText(file)} is taken as the name of a program; ${hint}`,
    isNew &&
      hint === undefined &&
      file.includes("/") &&
      !file.startsWith("/") &&
      (folder ?? runAs) === undefined &&
      `${quoteText(file)} is a path in the working folder of the worker that runs it; write an absolute path`,
    runAs !== undefined &&
      runAs !== before?.runAs &&
      runAs !== "root" &&
      `without a session of PAM, ${runAs} has the limits of the worker's service, not those of limits.conf`,
    !isDeepStrictEqual(command, before?.command) && describeEndedProcess(findBackgroundProcess(command)),
  ]);
}

/**
 * Checks that leases fit the configured totals of their resources. Names, amounts and totals with macros are not checked,
 * nor those that the user's role must not read.
 * @returns notes about resources without a total
 * @throws UsageError
 */
export async function checkConfiguredTotals(
  context: CommandContext,
  leases: readonly string[] = [],
): Promise<string[]> {
  const plain = parsePlainLeases(leases);
  if (plain.length === 0) return [];
  const keys = plain.map(({ resource }) => context.keys.resourceConfig(resource));
  const found = await readKeysIfAllowed(context, keys, context.signal);
  const notes: string[] = [];
  for (const [index, { resource, count, total: stated }] of plain.entries()) {
    const kv = found[index];
    const config = kv && parseResourceConfig(kv.value);
    const total = config && "value" in config ? config.value.total : undefined;
    if (index in found && stated === undefined && total === undefined && !/[A-Z]/.test(resource))
      notes.push(
        `resource ${quoteText(resource)} has no total: every run fails until you set it (signalbox resource set ${quoteShellWord(resource)} TOTAL)`,
      );
    if (count > Number(total))
      throw new UsageError(
        `--lease: ${count} units of resource ${quoteText(resource)} are requested, but there are only ${total}; ask for fewer, or change the total: signalbox resource set`,
      );
  }
  return notes;
}
