import type { Argument, Command, Flag, NameKind } from "../../commands/spec.ts";
import { listText, wordsIn } from "./list-text.ts";

/** A command line to be filled in, made from the command's declaration. */
export interface Form {
  readonly spec: Command;
  readonly fields: readonly FormField[];
}

/** One thing to fill in. */
export interface FormField {
  /** `arg:NAME` or `flag:NAME`: an argument and a flag may have one name. */
  readonly id: string;
  readonly label: string;
  /** `list`: as it is typed, words as a shell takes them. */
  readonly kind: "text" | "choice" | "switch" | "list";
  /** True or false for a switch. An empty text says nothing. */
  readonly value: string | boolean;
  readonly choices?: readonly string[];
  readonly help: string;
  readonly isRequired: boolean;
  /** It is settled: nobody is asked for it. */
  readonly isFixed?: true;
  /** What its value names, so that names can be offered. */
  readonly names?: NameKind | readonly NameKind[];
  /** What its value is, in help's word: `DURATION`. */
  readonly unit?: string;
  /** What is there, and is taken away if the field is emptied. */
  readonly clears?: string;
}

/** Flags that are the console's own matter (it asks first, binds to what it has shown, reads the answer), or a script's. */
const OWN: ReadonlySet<string> = new Set(
  "dry-run yes json expect-revision strict no-wait watch ascii wide quiet verbose config help".split(" "),
);

/** What the fields of a form begin with. */
export interface Given {
  /** Values of arguments, in their order. */
  args?: readonly string[];
  /** A flag that the form does not have is left out. */
  flags?: Readonly<Record<string, string | true | readonly string[]>> | undefined;
  /** How many of the arguments are settled. */
  fixed?: number;
}

/** The form of a command: its arguments, then its flags, without those that the console sets by itself. */
export function formOf(spec: Command, { args: given = [], flags: set = {}, fixed = 0 }: Given = {}): Form {
  const args = (spec.args ?? []).map((arg, at) => ({
    ...argumentField(arg, given.slice(at, arg.isRest ? undefined : at + 1)),
    ...(at < fixed && { isFixed: true as const }),
  }));
  const flags = (spec.flags ?? []).filter(({ name }) => !OWN.has(name));
  return { spec, fields: [...args, ...flags.map((flag) => flagField(flag, set[flag.name]))] };
}

function argumentField(
  { name, choices, names, isOptional, isRest, help }: Argument,
  values: readonly string[],
): FormField {
  return {
    ...{ id: `arg:${name}`, label: name.toLowerCase(), help, isRequired: !isOptional },
    ...(isRest
      ? { kind: "list", value: listText(values) }
      : { kind: kindOf(choices), value: values[0] ?? "" }),
    ...(choices && { choices }),
    ...(names && { names }),
  };
}

function flagField(flag: Flag, given: string | true | readonly string[] | undefined): FormField {
  const { name, value: unit, choices, names, isRepeatable, canClear, help } = flag;
  const common = { id: `flag:${name}`, label: name, help, isRequired: false };
  if (unit === undefined) return { ...common, kind: "switch", value: given === true };
  const text = typeof given === "string" ? given : "";
  return {
    ...common,
    ...(isRepeatable
      ? { kind: "list", value: listText(Array.isArray(given) ? given : [text].filter(Boolean)) }
      : { kind: kindOf(choices), value: text }),
    unit,
    ...(choices && { choices }),
    ...(names && { names }),
    ...(canClear && text !== "" && { clears: text }),
  };
}

function kindOf(choices: readonly string[] | undefined): "choice" | "text" {
  return choices ? "choice" : "text";
}

/** The form with another value in one field. */
export function withValue(form: Form, id: string, value: string | boolean): Form {
  return { ...form, fields: form.fields.map((field) => (field.id === id ? { ...field, value } : field)) };
}

/** The form with the next value in one field: a switch turned, another choice. @param by  -1 for the one before */
export function withNext(form: Form, id: string, by: 1 | -1 = 1): Form {
  const field = form.fields.find((one) => one.id === id);
  if (field?.kind === "switch") return withValue(form, id, field.value !== true);
  if (field?.kind !== "choice") return form;
  const values = [...(field.isRequired ? [] : [""]), ...(field.choices ?? [])];
  const at = values.indexOf(String(field.value));
  const next = at < 0 ? (by > 0 ? 0 : values.length - 1) : (at + by + values.length) % values.length;
  return withValue(form, id, values[next] ?? "");
}

/** What a field gives to the command: nothing, one value, or those of a list. */
export function valuesOf({ kind, value }: FormField): readonly string[] {
  if (typeof value !== "string" || value === "") return [];
  return kind === "list" ? wordsIn(value) : [value];
}
