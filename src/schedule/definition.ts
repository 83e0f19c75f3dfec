import * as v from "valibot";
import type { WallTime } from "../core/base/clock.ts";
import { ConfigError, SignalboxError } from "../core/base/errors.ts";
import type { JsonSchema } from "../core/base/json-schema.ts";
import { isCount, isJsonObject } from "../core/base/parse-json.ts";
import { applySchema, refuseFault } from "../core/base/schema.ts";
import { findNearest, type ParseResult, quoteText, quoteValue } from "../core/base/text.ts";
import { findConditionFault } from "../core/fleet/conditions.ts";
import { CONTAINER_RULES, findContainerFault } from "../core/process/guarded-command/container.ts";
import { isBlackoutText, parseBlackout } from "./calendar/blackout.ts";
import { EXCLUSION_RULES } from "./calendar/day-rule.ts";
import { checkZone } from "./cron/offsets.ts";
import {
  CATCHUPS,
  type Catchup,
  CHAIN_CONDITIONS,
  EVERY_HOST,
  HOOK_NAMES,
  type Hook,
  type HookName,
  MAX_PRIORITY,
  MOST_KEPT,
  OVERLAPS,
  PLACES,
  REMOVAL_CONDITIONS,
  SCHEDULE_DEFAULTS,
} from "./definition-values.ts";
import { findExpectationFault } from "./expectation.ts";
import { isMillis, isText, isTexts, type JsonFields, parseJsonFields } from "./json-fields.ts";
import { BOOT_PLAN, type CronText, parsePlan } from "./plan.ts";

/** A pause set by an operator, or by the schedule itself (`pauseAfterFailures`). The schedule fires only when triggered. */
export interface Pause {
  by: string;
  /** ms since the epoch. */
  at: WallTime;
  /** End of the pause, ms since the epoch; the schedule then fires again by itself. */
  until?: WallTime;
  why?: string;
}

export const PAUSE_SCHEMA = v.object({
  by: v.optional(v.string()),
  at: v.custom(isMillis),
  until: v.optional(v.custom(isMillis)),
  why: v.optional(v.string()),
});

type Hooks = Readonly<Partial<Record<HookName, Hook>>>;

const TEXT_LIST: JsonSchema = { type: "array", items: { type: "string" } };
const TEXT_OR_TEXTS: JsonSchema = { type: ["string", "array"], items: { type: "string" } };

const FIELD_SCHEMAS: Record<string, JsonSchema> = {};

/** The fields that are durations in ms. */
export const DURATION_FIELDS = new Set<string>();

/**
 * Definition of a schedule, under `schedules/<id>`. Durations in ms, instants in ms since the epoch. It may have other
 * fields, which a later version wrote.
 */
const DEFINITION = v.object({
  /** A cron expression, a macro such as `@daily`, or several; or another text that `parsePlan` knows. */
  cron: v.pipe(
    createField(
      "cron",
      isCronText,
      'is not a string such as "*/5 * * * *", or a list of them',
      TEXT_OR_TEXTS,
    ),
    refuseFault((cron) => catchMessage(() => parsePlan(cron))),
  ),
  /** IANA name of the time zone. */
  timezone: v.pipe(
    createField("timezone", isText, "is not a name such as Europe/Berlin", { type: "string" }),
    refuseFault((timezone) => catchMessage(() => checkZone(timezone))),
  ),
  /** Selects the handler. Default: the id up to the first dot. */
  type: createTextField("type"),
  /** Delay after the scheduled time. */
  delay: createDurationField("delay"),
  /** Maximum of an additional delay that spreads schedules due at the same time. The delay is constant per schedule. */
  jitter: createDurationField("jitter"),
  /** There are no occurrences after this instant. */
  end: v.exactOptional(
    createField("end", isMillis, "is not an instant in ms since the epoch", { type: ["string", "integer"] }),
  ),
  /** Names of calendars, and times of the day such as `22:00-06:00`. It does not fire on the days of any of them, or then. */
  except: v.exactOptional(
    v.pipe(
      createField(
        "except",
        isTexts,
        "is not a list of names of calendars, or times such as 22:00-06:00",
        TEXT_LIST,
      ),
      refuseFault((entries) => findFirstFault(entries.filter(isBlackoutText).map(parseBlackout))),
    ),
  ),
  /** Names of calendars. It fires only on the days of any of them. */
  only: v.exactOptional(
    v.pipe(
      createField("only", isTexts, "is not a list of names of calendars", TEXT_LIST),
      refuseFault((entries) => {
        const times = entries.find(isBlackoutText);
        return (
          times &&
          `only has names of calendars; got ${quoteText(times)}: name the other times of the day in except`
        );
      }),
    ),
  ),
  /** What happens to an occurrence on a day that calendars exclude. */
  ifExcluded: createChoiceField("ifExcluded", EXCLUSION_RULES),
  /** Data for the handler. */
  data: v.exactOptional(v.unknown()),
  /** Command to run, as argv, instead of a handler. */
  command: v.exactOptional(
    createField("command", isArgv, "is not a list of words, with numbers in quotes", TEXT_LIST),
  ),
  env: v.exactOptional(
    createField("env", isEnv, "is not an object of strings", {
      type: "object",
      additionalProperties: { type: "string" },
    }),
  ),
  /** Working folder of the command: an absolute path, or `~`, the home of its user, with a path after it. Default: the worker's. */
  folder: v.exactOptional(
    createField("folder", isFolder, "is not an absolute path, ~, or a path below ~/", { type: "string" }),
  ),
  /** Standard input of the command, instead of the task as JSON. */
  input: createTextField("input"),
  /** The command runs a container, which ends with it. If no process of it is in the command's cgroup: a warning, or its end. */
  container: createChoiceField("container", CONTAINER_RULES),
  /** Ids of the schedules that it follows: it runs when each of them has ended since its last run. */
  after: v.exactOptional(createField("after", isTexts, "is not a list of ids of schedules", TEXT_LIST)),
  /** How those must end; or `every-host`: each occurrence runs once on each host of the group, or on each host. */
  on: createChoiceField("on", [...CHAIN_CONDITIONS, EVERY_HOST]),
  catchup: createChoiceField("catchup", CATCHUPS),
  /** An occurrence that is later than this is skipped. */
  deadline: createDurationField("deadline"),
  overlap: createChoiceField("overlap", OVERLAPS),
  /** A worker starts what has a higher priority first, of all that is due. */
  priority: v.exactOptional(
    createField("priority", isPriority, `is not a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}`, {
      type: "integer",
    }),
  ),
  /** The schedule is removed when its last occurrence has ended so. */
  removeAfter: createChoiceField("removeAfter", REMOVAL_CONDITIONS),
  /** Only hosts of this group claim the schedule. */
  group: createTextField("group"),
  /** Which host of those starts an occurrence first. */
  place: createChoiceField("place", PLACES),
  /** Conditions on the host, such as `load < CPU`. All must hold when it starts. */
  if: v.exactOptional(
    v.pipe(
      createField("if", isTexts, "is not a list of conditions such as load < CPU", TEXT_LIST),
      refuseFault((conditions) => conditions.map(findConditionFault).find((fault) => fault !== undefined)),
    ),
  ),
  /** Leases in the syntax of `--lease`: `db=2:10`. */
  leases: v.exactOptional(
    createField("leases", isTexts, "is not a list of strings such as db=2:10", TEXT_LIST),
  ),
  /** A run receives TERM after this time. */
  timeout: createDurationField("timeout"),
  /** How long a run should take: `5s..20m`, `5s..`, `..20m`, or `auto`. */
  expect: v.exactOptional(
    v.pipe(
      createField("expect", isText, "is not a string such as 5s..20m", { type: "string" }),
      refuseFault((text) => {
        const fault = findExpectationFault(text);
        return fault && `expect ${fault}`;
      }),
    ),
  ),
  /** How often a failed occurrence is started again before it is given up. */
  retries: v.exactOptional(
    createField("retries", isCount, "is not a whole number of 0 or more", { type: "integer", minimum: 0 }),
  ),
  /** Pause before the first retry; doubled for each further one. */
  backoff: createDurationField("backoff"),
  /** The schedule pauses itself when so many occurrences in a row were given up. */
  pauseAfterFailures: v.exactOptional(
    createField("pauseAfterFailures", isPositive, "is not a whole number of 1 or more", {
      type: "integer",
      minimum: 1,
    }),
  ),
  /** How many outcomes the history keeps; the oldest go first. */
  keep: v.exactOptional(
    createField("keep", isKeepCount, `is not a whole number from 1 to ${MOST_KEPT}`, {
      type: "integer",
      minimum: 1,
    }),
  ),
  /** The history keeps no outcome that ended so much earlier than the newest one. */
  keepFor: createDurationField("keepFor"),
  /** Outcomes have what the handler returned, and stay so long after `removeAfter` has removed the schedule. */
  keepResult: createDurationField("keepResult"),
  hooks: v.exactOptional(
    v.pipe(
      createField("hooks", isHooks, "is not an object", {
        type: "object",
        properties: Object.fromEntries(HOOK_NAMES.map((name) => [name, TEXT_OR_TEXTS])),
        additionalProperties: false,
      }),
      refuseFault(findHookFault),
    ),
  ),
  /** Words for filters of listings and commands. */
  tags: v.exactOptional(
    createField("tags", isTags, "is not a list of words without spaces and commas", TEXT_LIST),
  ),
  note: createTextField("note"),
  /** Source of the import. An import owns the schedules with its source. */
  source: createTextField("source"),
  pause: v.exactOptional(
    createField("pause", isPause, "must have an instant `at`, and may have `by`, `until` and `why`", {
      type: "object",
      required: ["at"],
      properties: {
        by: { type: "string" },
        at: { type: ["string", "integer"] },
        until: { type: ["string", "integer"] },
        why: { type: "string" },
      },
    }),
  ),
});
export type Definition = v.InferOutput<typeof DEFINITION>;

/** All fields, in the order of their declaration. */
export const DEFINITION_FIELDS: readonly string[] = Object.keys(DEFINITION.entries);

/** Returns the schema of a field, for editors. */
export function getFieldSchema(name: string): JsonSchema {
  return FIELD_SCHEMAS[name] ?? {};
}

/** Returns the value to store in etcd, for `parseDefinition`. */
export function formatDefinition(definition: Definition): string {
  return JSON.stringify({ v: 1, ...definition });
}

/** Parses a definition from etcd. Keeps unknown fields. */
export function parseDefinition(text: string): ParseResult<Definition> {
  const fields = parseJsonFields(text);
  if (fields === undefined) return { fault: "it is not a JSON object" };
  const { v: _, ...rest } = fields;
  const fault = findDefinitionFault(rest);
  return fault === undefined ? { value: rest as unknown as Definition } : { fault };
}

/**
 * Checks a definition from user input.
 * @throws ConfigError with the field and the value received; CronError
 */
export function checkDefinition(definition: Definition): Definition {
  const fault = findDefinitionFault({ ...definition });
  if (fault !== undefined) throw new ConfigError(fault);
  return definition;
}

/** Returns the first fault of a definition's fields, with the value received; undefined if there is none. */
export function findDefinitionFault(fields: JsonFields): string | undefined {
  return locateDefinitionFault(fields)?.what;
}

/** Returns the first fault of a definition's fields, and the path to the field; undefined if there is none. */
export function locateDefinitionFault(
  fields: JsonFields,
): { what: string; path: readonly (string | number)[] } | undefined {
  const missing = REQUIRED_FIELDS.find(({ name }) => fields[name] === undefined);
  if (missing !== undefined)
    return { what: `${missing.name} is missing; set it, for example to ${missing.example}`, path: [] };
  const result = applySchema(DEFINITION, fields);
  return "fault" in result
    ? result.fault
    : (findCommandFault(result.value) ?? findEveryHostFault(result.value));
}

/** The fields are about a command of the schedule's own: a handler has what its worker's file says. */
function findCommandFault(definition: Definition): { what: string; path: readonly string[] } | undefined {
  const { container, command } = definition;
  const fault = container && command && findContainerFault(command);
  if (fault !== undefined) return { what: `container: ${fault}`, path: ["container"] };
  const field = (["folder", "input", "container"] as const).find((name) => definition[name] !== undefined);
  if (field === undefined || command !== undefined) return undefined;
  return { what: `${field} is about the command of a schedule, and this one has none`, path: [field] };
}

function findEveryHostFault(
  definition: Definition,
): { what: string; path: readonly (string | number)[] } | undefined {
  if (!runsOnEveryHost(definition))
    return runsAtBoot(definition)
      ? {
          what: "a schedule of @reboot runs on each host: add on: every-host (--on every-host)",
          path: ["on"],
        }
      : undefined;
  if (definition.after !== undefined)
    return {
      what: "a schedule that runs on every host cannot follow another one: leave out after, or on: every-host",
      path: ["on"],
    };
  if (definition.place !== undefined)
    return {
      what: `a schedule that runs on every host does not choose between hosts: leave out place: ${definition.place} (--place), or on: every-host`,
      path: ["place"],
    };
  if (definition.removeAfter !== undefined)
    return {
      what: "a schedule that runs on every host does not end on all of them at once: leave out removeAfter, and delete it yourself",
      path: ["removeAfter"],
    };
  return undefined;
}

/** Returns whether each occurrence runs once on each host. Each host then has a state of its own. */
export function runsOnEveryHost(definition: Definition | undefined): boolean {
  return definition?.on === EVERY_HOST;
}

/** Returns whether a schedule runs once for each boot of a host. */
export function runsAtBoot(definition: Definition | undefined): boolean {
  return String(definition?.cron).trim().toLowerCase() === BOOT_PLAN;
}

/** Returns whether a schedule is due once, at an instant. */
export function isOnce({ cron }: Definition): boolean {
  return /^\s*@at\s/i.test(String(cron));
}

/** Returns whether a schedule is a job of a program: due once, and removed when it has succeeded. */
export function isJob(definition: Definition | undefined): definition is Definition {
  return definition?.removeAfter === "success" && isOnce(definition);
}

const REQUIRED_FIELDS = [
  { name: "cron", example: '"*/5 * * * *"' },
  { name: "timezone", example: '"Europe/Berlin" or "UTC"' },
] as const;

/**
 * Returns the fault of the first field that definitions do not have; undefined if there is none. For input of users only:
 * what is stored may have fields of a later version.
 * @param before  the stored definition, whose fields are kept
 */
export function findUnknownField(fields: JsonFields, before: JsonFields = {}): string | undefined {
  const known = (name: string) => DEFINITION_FIELDS.includes(name) || Object.hasOwn(before, name);
  const unknown = Object.keys(fields).find((name) => !known(name));
  return unknown === undefined ? undefined : describeUnknownField(unknown, DEFINITION_FIELDS);
}

/** Describes a field that does not exist: the one that was probably meant, or all. */
export function describeUnknownField(name: string, known: readonly string[]): string {
  const meant = findNearest(name, known);
  return `unknown field ${quoteText(name)}; ${meant === undefined ? `the fields are ${known.join(", ")}` : `did you mean ${quoteText(meant)}?`}`;
}

/** Says what a host must fulfil: `it needs a host with load < CPU`; undefined without conditions. */
export function formatConditions({ if: conditions }: Definition): string | undefined {
  return conditions && `it needs a host with ${conditions.join(" and ")}`;
}

/** Returns which missed occurrences run. What follows other schedules runs after each of their ends, unless it says otherwise. */
export function getCatchup({ catchup, after }: Definition): Catchup {
  return catchup ?? (after === undefined ? SCHEDULE_DEFAULTS.catchup : "all");
}

/** Returns how late an occurrence may start, ms; undefined: without limit. */
export function getDeadline({ deadline, catchup }: Definition): number | undefined {
  return deadline ?? (catchup === "none" ? SCHEDULE_DEFAULTS.missedAfter : undefined);
}

/** Returns the type, which selects the handler. */
export function getScheduleType(id: string, { type }: Pick<Definition, "type">): string {
  return type ?? id.split(".", 1)[0] ?? id;
}

/** The part of the state of a schedule that says whether it has paused itself. */
type OwnPause = { readonly pause?: Pause } | undefined;

/** Returns the pause of a schedule: the one that it set itself has no end, so that of an operator does not matter then. */
export function getPause(definition: Definition | undefined, due: OwnPause): Pause | undefined {
  return due?.pause ?? definition?.pause;
}

/** Returns whether a schedule is paused at an instant. */
export function isPaused(definition: Definition, due: OwnPause, now: WallTime): boolean {
  const pause = getPause(definition, due);
  return pause !== undefined && (pause.until === undefined || pause.until > now);
}

/**
 * Creates the schema of a field. Its message has the name of the field, the value received, and what is expected.
 * @param schema  for editors; durations and instants can also be texts in a file
 */
function createField<T>(
  name: string,
  is: (value: unknown) => value is T,
  expected: string,
  schema: JsonSchema = {},
) {
  FIELD_SCHEMAS[name] = schema;
  return v.custom<T>(is, ({ input }) => `${name} ${quoteValue(input)} ${expected}`);
}

function createTextField(name: string) {
  return v.exactOptional(createField(name, isText, "is not a string", { type: "string" }));
}

function findFirstFault(parsed: readonly ParseResult<unknown>[]): string | undefined {
  return parsed.flatMap((one) => ("fault" in one ? [one.fault] : []))[0];
}

function createDurationField(name: string) {
  DURATION_FIELDS.add(name);
  const schema = { type: ["string", "integer"], minimum: 0 };
  return v.exactOptional(createField(name, isMillis, "is not a duration in whole ms", schema));
}

function createChoiceField<const T extends readonly string[]>(name: string, choices: T) {
  const message = `${name} must be one of ${choices.join(", ")}; got `;
  FIELD_SCHEMAS[name] = { enum: choices };
  return v.exactOptional(v.picklist(choices, ({ input }) => message + quoteValue(input)));
}

function findHookFault(hooks: Hooks): string | undefined {
  const bad = Object.entries(hooks).find(([name, hook]) => !isHook(name, hook));
  return (
    bad &&
    `hook ${quoteText(bad[0])} must be one of ${HOOK_NAMES.join(", ")}, and its value a URL or a list of words`
  );
}

/** Returns whether the hooks are an object; `findHookFault` checks each. */
function isHooks(value: unknown): value is Hooks {
  return isJsonObject(value);
}

function isHook(name: string, hook: unknown): boolean {
  return HOOK_NAMES.some((one) => one === name) && (isText(hook) || isArgv(hook));
}

function isKeepCount(value: unknown): value is number {
  return isPositive(value) && value <= MOST_KEPT;
}

function isPositive(value: unknown): value is number {
  return isCount(value) && value >= 1;
}

function isPause(value: unknown): value is Pause {
  return isJsonObject(value) && v.is(PAUSE_SCHEMA, value);
}

function isPriority(value: unknown): value is number {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= MAX_PRIORITY;
}

function isCronText(value: unknown): value is CronText {
  return isText(value) || isArgv(value);
}

function isTags(value: unknown): value is readonly string[] {
  return isTexts(value) && value.every((tag) => /^[^\s,]{1,100}$/.test(tag));
}

function isArgv(value: unknown): value is readonly string[] {
  return isTexts(value) && value.length > 0;
}

function isFolder(value: unknown): value is string {
  return isText(value) && /^(?:\/|~(?:\/|$))/.test(value) && !value.includes("\0");
}

function isEnv(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every(isText);
}

function catchMessage(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}
