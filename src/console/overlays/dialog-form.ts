import type { Argument, Command, Flag, NameKind } from "../../cli/frame/command.ts";
import { CommandLineError, parseCall } from "../../cli/frame/command-line/parse-call.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { parseDuration } from "../../core/base/clock.ts";
import { UsageError } from "../../core/base/errors.ts";
import { quotePosixWord, quoteShellWord } from "../../core/base/shell.ts";
import { findNameFault } from "../../core/base/text.ts";
import type { RowAction } from "../parts/row-actions.ts";

/** A command line to fill in, made from the command's declaration. */
export interface Form {
  readonly spec: Command;
  readonly fields: readonly FormField[];
}

interface FormField {
  /** `arg:NAME` or `flag:NAME`: an argument and a flag may have the same name. */
  readonly id: string;
  readonly label: string;
  /** `list`: several words in one line, quoted as in a shell. */
  readonly kind: "text" | "choice" | "switch" | "list";
  /** True or false for a switch. An empty text is left out. */
  readonly value: string | boolean;
  readonly choices?: readonly string[];
  readonly help: string;
  readonly isRequired: boolean;
  /** The value is fixed: the user is not asked for it. */
  readonly isFixed?: true;
  /** The kind of thing that the value names, for suggestions. */
  readonly names?: NameKind | readonly NameKind[];
  /** A flag without its value has a meaning, so the value is written after `=`. */
  readonly isOptional?: true;
  /** The placeholder of the value in the help: `DURATION`. */
  readonly unit?: string;
  /** Separates the values of a text that has several. */
  readonly separator?: string;
  /** The current value, which is removed if the field is emptied. */
  readonly clears?: string;
  /** The current value. The field becomes a flag only if its value differs. */
  readonly unchanged?: string;
}

/**
 * Flags that the console sets itself (it asks for confirmation, binds to a revision, reads the output), or that only
 * scripts need.
 */
const CONSOLE_FLAGS: ReadonlySet<string> = new Set(
  "dry-run yes json expect-revision waiting strict no-wait watch ascii wide quiet verbose config help".split(
    " ",
  ),
);

/** The flag with the revision that was read before the preview. The console sets it, unless the form has the flag. */
const REVISION_FLAG = "expect-revision";

/**
 * Builds the form of a command: its arguments, then its flags, without those that the console sets itself. Initial
 * values of flags that the form does not have are ignored.
 */
export function createForm(
  spec: Command,
  { args: given = [], flags: set = {}, present = {}, fixed = 0 }: Partial<RowAction> = {},
): Form {
  const args = (spec.args ?? []).map((arg, at) => ({
    ...createArgumentField(arg, given.slice(at, arg.isRest ? undefined : at + 1)),
    ...(at < fixed && { isFixed: true as const }),
  }));
  const flags = (spec.flags ?? []).filter(
    ({ name }) => !CONSOLE_FLAGS.has(name) || (name === REVISION_FLAG && set[name] !== undefined),
  );
  return {
    spec,
    fields: [...args, ...flags.map((flag) => createFlagField(flag, set[flag.name], present[flag.name]))],
  };
}

function createArgumentField(
  { name, choices, names, isOptional, isRest, help }: Argument,
  values: readonly string[],
): FormField {
  return {
    id: `arg:${name}`,
    label: name.toLowerCase(),
    help,
    isRequired: !isOptional,
    ...(isRest
      ? { kind: "list", value: formatWordList(values) }
      : { kind: getFieldKind(choices), value: values[0] ?? "" }),
    ...(choices && { choices }),
    ...(names && { names }),
  };
}

function createFlagField(
  flag: Flag,
  set: string | true | readonly string[] | undefined,
  present: string | readonly string[] | undefined,
): FormField {
  const given = set ?? present;
  const { name, value: unit, choices, names, isRepeatable, isOptional, separator, canClear, help } = flag;
  const isFixed = name === REVISION_FLAG && { isFixed: true as const };
  const common = { id: `flag:${name}`, label: name, help, isRequired: false, ...isFixed };
  if (unit === undefined) return { ...common, kind: "switch", value: given === true };
  const single = typeof given === "string" ? given : "";
  const values = Array.isArray(given) ? given : [single].filter(Boolean);
  const isList = isRepeatable && separator === undefined;
  const text = isList ? formatWordList(values) : values.join(`${separator} `);
  return {
    ...common,
    kind: isList ? "list" : getFieldKind(choices),
    value: text,
    unit,
    ...(set === undefined && present !== undefined && { unchanged: text }),
    ...(choices && { choices }),
    ...(names && { names }),
    ...(separator && { separator }),
    ...(isOptional && { isOptional }),
    ...(canClear && text !== "" && { clears: text }),
  };
}

function getFieldKind(choices: readonly string[] | undefined): "choice" | "text" {
  return choices ? "choice" : "text";
}

/** Returns the form with another value in one field. */
export function setFieldValue(form: Form, id: string, value: string | boolean): Form {
  return { ...form, fields: form.fields.map((field) => (field.id === id ? { ...field, value } : field)) };
}

/**
 * Returns the form with the next value in one field: toggles a switch, or selects the next choice.
 * @param by  -1 for the previous value
 */
export function selectNextValue(form: Form, id: string, by: 1 | -1 = 1): Form {
  const field = form.fields.find((one) => one.id === id);
  if (field?.kind === "switch") return setFieldValue(form, id, field.value !== true);
  if (field?.kind !== "choice") return form;
  const values = [...(field.isRequired ? [] : [""]), ...(field.choices ?? [])];
  const at = values.indexOf(String(field.value));
  const next = at < 0 ? (by > 0 ? 0 : values.length - 1) : (at + by + values.length) % values.length;
  return setFieldValue(form, id, values[next] ?? "");
}

/** Returns the values that a field passes to the command: none, one, or those of a list. */
function getFieldValues({ kind, value, separator }: FormField): readonly string[] {
  if (typeof value !== "string" || value === "") return [];
  // A rule of iCalendar has semicolons too: FREQ=WEEKLY;INTERVAL=2.
  if (separator !== undefined)
    return value.split(new RegExp(`${separator}(?![A-Z]+=)`, "i")).map((one) => one.trim());
  return kind === "list" ? parseWordList(value) : [value];
}

export function listArgumentValues({ fields }: Form): readonly string[] {
  return fields.filter(({ id }) => id.startsWith("arg:")).flatMap(getFieldValues);
}

/** Joins words into one line that `parseWordList` can split again. Quotes words where needed. */
export function formatWordList(words: readonly string[]): string {
  return words.map((word) => (/^[^\s'"\\]+$/u.test(word) ? word : quotePosixWord(word))).join(" ");
}

// An unclosed quote extends to the end, because the user may still be typing.
const WORD_PART = /'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|\\?$)|\\(.)|\\$|([^\s'"\\]+)/gsu;
/** Adjacent parts form one word. */
const WORD = /(?:'[^']*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|\\.|\\$|[^\s'"\\])+/gsu;

/** Splits a line into words as a shell does: by spaces, with quotes and backslashes. Never throws. */
export function parseWordList(line: string): string[] {
  return Array.from(line.matchAll(WORD), ([word]) =>
    word.replace(WORD_PART, (_, single?: string, double?: string, escaped?: string, bare?: string) => {
      return single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "";
    }),
  );
}

/**
 * Converts a form to the words after the command's name, as `parseCall` reads them: arguments, then flags. If an
 * argument starts with a dash, the arguments come last, after `--`. Empty fields are left out.
 */
export function toCommandWords(form: Form): string[] {
  return buildWords(form, []);
}

/** Formats a form as a command line to copy, quoted for a shell. @param more  additional flags */
export function formatFormCommand(form: Form, more: readonly string[] = []): string {
  return ["signalbox", form.spec.id, ...buildWords(form, more).map(quoteShellWord)].join(" ");
}

function buildWords({ fields }: Form, more: readonly string[]): string[] {
  const args = buildArgumentWords(fields.filter(({ id }) => id.startsWith("arg:")));
  const flags = [...fields.flatMap(buildFlagWords), ...more];
  const needsEnd = args.some((word) => word.startsWith("-") && word !== "-");
  return needsEnd ? [...flags, "--", ...args] : [...args, ...flags];
}

/** Builds the argument words. An empty argument is kept only if another one follows. */
function buildArgumentWords(fields: readonly FormField[]): string[] {
  const values = fields.map(getFieldValues);
  const last = values.findLastIndex((words) => words.length > 0);
  return values.slice(0, last + 1).flatMap((words) => (words.length > 0 ? words : [""]));
}

function buildFlagWords(field: FormField): string[] {
  const { id, kind, value, clears, unchanged, isOptional } = field;
  if (!id.startsWith("flag:") || value === unchanged) return [];
  const flag = `--${id.slice("flag:".length)}`;
  if (kind === "switch") return value === true ? [flag] : [];
  const values = value === "" && clears !== undefined ? [""] : getFieldValues(field);
  // Without `=`, a reader would take a value that starts with a dash for a flag, and the parser would take `--` for
  // the end.
  return values.flatMap((word) => (isOptional || word.startsWith("-") ? [`${flag}=${word}`] : [flag, word]));
}

interface FormFault {
  /** The field; undefined if the fault concerns all of them. */
  id?: string;
  text: string;
}

/** Returns the first fault of a form as a sentence, or undefined if it has none. */
export function findFormFault(form: Form): string | undefined {
  return listFormFaults(form)[0]?.text;
}

/** Lists the faults of a form in the order of its fields. If the fields have none, the command's parser decides. */
export function listFormFaults(form: Form): FormFault[] {
  const own = form.fields.flatMap(findFieldFaults);
  return own.length > 0 ? own : findParserFaults(form);
}

function findFieldFaults(field: FormField): FormFault[] {
  const { id, label, isRequired } = field;
  const values = getFieldValues(field);
  if (values.length === 0)
    return isRequired && field.kind !== "switch" ? [{ id, text: `${label} is missing` }] : [];
  const fault = values.map((value) => findValueFault(field, value)).find((text) => text !== undefined);
  return fault === undefined ? [] : [{ id, text: `${label}: ${fault}` }];
}

function findValueFault(field: FormField, value: string): string | undefined {
  if (field.unit === "DURATION" || field.unit === "AGE") {
    const parsed = parseDuration(value);
    return "fault" in parsed ? parsed.fault : undefined;
  }
  return field.names === undefined ? undefined : findNameFault(value);
}

function findParserFaults(form: Form): FormFault[] {
  try {
    parseCall(form.spec, toCommandWords(form));
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // The reference to the command line's help is of no use in the console.
    return [{ text: error instanceof CommandLineError ? error.fault : error.message }];
  }
}

/**
 * Lists the flags that a copied command line needs to act on the displayed cluster: none if the configuration or a
 * variable chose the context.
 */
export function listContextWords(context: CommandContext): string[] {
  const { sources, values } = context.config;
  return values.context !== undefined && sources.context.startsWith("flag ")
    ? ["--context", values.context]
    : [];
}
