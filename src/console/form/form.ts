import { parseCall } from "../../commands/parse.ts";
import { shellWord } from "../../commands/shell-word.ts";
import type { Command, Flag, NameKind } from "../../commands/spec.ts";

/** A command line to be filled in, made from the command's declaration. */
export interface Form {
  spec: Command;
  fields: readonly FormField[];
}

export interface FormField {
  /** `arg:NAME` or `flag:NAME`: an argument and a flag may have one name. */
  id: string;
  label: string;
  /** `list`: words as a shell takes them. */
  kind: "text" | "choice" | "switch" | "list";
  value: string | boolean;
  choices?: readonly string[];
  help: string;
  isRequired: boolean;
  /** It is settled: nobody is asked for it. */
  isFixed?: true;
  names?: NameKind | readonly NameKind[];
}

/** Flags that are the console's own matter: it always asks first, binds to what it has shown, and reads the answer. */
const OWN = new Set(["dry-run", "yes", "json", "expect-revision", "strict", "no-wait"]);

/** What the fields of a form begin with. */
export interface Given {
  args?: readonly string[];
  flags?: Readonly<Record<string, string | true>> | undefined;
  /** How many of the arguments are settled. */
  fixed?: number;
}

export function formOf(spec: Command, given: Given = {}): Form {
  const args = (spec.args ?? []).map((arg, at): FormField => {
    const value = arg.isRest ? (given.args ?? []).slice(at).map(shellWord).join(" ") : (given.args?.[at] ?? "");
    return {
      ...{ id: `arg:${arg.name}`, label: arg.name.toLowerCase(), help: arg.help, value },
      kind: arg.isRest ? "list" : arg.choices ? "choice" : "text",
      isRequired: arg.isOptional !== true,
      ...(at < (given.fixed ?? 0) && { isFixed: true as const }),
      ...(arg.choices && { choices: arg.choices }),
      ...(arg.names && { names: arg.names }),
    };
  });
  const flags = (spec.flags ?? []).filter(({ name }) => !OWN.has(name));
  return { spec, fields: [...args, ...flags.map((flag) => flagField(flag, given.flags?.[flag.name]))] };
}

function flagField(flag: Flag, value: string | true | undefined): FormField {
  const { name, help, choices, names } = flag;
  return {
    ...{ id: `flag:${name}`, label: name, help, isRequired: false },
    kind: flag.value === undefined ? "switch" : choices ? "choice" : "text",
    value: flag.value === undefined ? value === true : (value ?? "") === true ? "" : String(value ?? ""),
    ...(choices && { choices }),
    ...(names && { names }),
  };
}

/** The form with another value in one field. */
export function withValue(form: Form, id: string, value: string | boolean): Form {
  return { ...form, fields: form.fields.map((field) => (field.id === id ? { ...field, value } : field)) };
}

/**
 * What stands after the command's name: arguments and flags; where an argument begins with a dash, behind `--`. Empty fields
 * say nothing; an argument that is left out ends them.
 */
export function wordsOf({ spec, fields }: Form): string[] {
  const flags = fields.filter(({ id }) => id.startsWith("flag:")).flatMap(flagWords);
  const args = argWords(fields.filter(({ id }) => id.startsWith("arg:")));
  const needsEnd = !spec.takesCommand && args.some((word) => word.startsWith("-"));
  return needsEnd ? [...flags, "--", ...args] : [...args, ...flags];
}

/** The same as a line for a shell. @param more  further flags, as words */
export function lineOf(form: Form, more: readonly string[] = []): string {
  const words = wordsOf(form);
  const end = words.indexOf("--");
  const all = end < 0 ? [...words, ...more] : [...more, ...words];
  return ["signalbox", form.spec.id, ...all.map(shellWord)].join(" ");
}

/** What is wrong with it as it stands, as the command itself would say it; undefined where nothing is. */
export function faultOf(form: Form): string | undefined {
  try {
    parseCall(form.spec, wordsOf(form));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function flagWords({ id, kind, value }: FormField): string[] {
  const name = `--${id.slice("flag:".length)}`;
  if (kind === "switch") return value === true ? [name] : [];
  const text = String(value);
  if (text === "") return [];
  return text.startsWith("-") ? [`${name}=${text}`] : [name, text];
}

function argWords(fields: readonly FormField[]): string[] {
  const words: string[] = [];
  for (const { kind, value } of fields) {
    if (value === "") break;
    words.push(...(kind === "list" ? listWords(String(value)) : [String(value)]));
  }
  return words;
}

/** Words of a list, quoted as in a shell where they hold spaces. */
function listWords(text: string): string[] {
  return Array.from(text.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g), ([, quoted, plain]) =>
    quoted === undefined ? (plain ?? "") : quoted.replaceAll("'\\''", "'"),
  );
}
