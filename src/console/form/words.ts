import { shellWord } from "../../base/shell.ts";
import { type Form, type FormField, valuesOf } from "./form.ts";

/**
 * What a form is as words behind the command's name, as `parseCall` takes them: arguments, then flags, as people type
 * them; behind `--` where an argument begins with a dash. Empty fields say nothing.
 */
export function wordsOf(form: Form): string[] {
  return ordered(form, []);
}

/** The same as a line to copy, with all that a shell would take for something else quoted. @param more  further flags */
export function lineOf(form: Form, more: readonly string[] = []): string {
  return ["signalbox", form.spec.id, ...ordered(form, more).map(shellWord)].join(" ");
}

function ordered({ fields }: Form, more: readonly string[]): string[] {
  const args = argumentsOf(fields.filter(({ id }) => id.startsWith("arg:")));
  const flags = [...fields.flatMap(flagWords), ...more];
  const needsEnd = args.some((word) => word.startsWith("-") && word !== "-");
  return needsEnd ? [...flags, "--", ...args] : [...args, ...flags];
}

/** An empty one keeps its place only where another is behind it. */
function argumentsOf(fields: readonly FormField[]): string[] {
  const values = fields.map(valuesOf);
  const last = values.findLastIndex((words) => words.length > 0);
  return values.slice(0, last + 1).flatMap((words) => (words.length > 0 ? words : [""]));
}

function flagWords(field: FormField): string[] {
  const { id, kind, value, clears } = field;
  if (!id.startsWith("flag:")) return [];
  const flag = `--${id.slice("flag:".length)}`;
  if (kind === "switch") return value === true ? [flag] : [];
  const values = value === "" && clears !== undefined ? [""] : valuesOf(field);
  // What begins with a dash would be taken for a flag by whoever reads the line; and `--` by the parser too.
  return values.flatMap((word) => (word.startsWith("-") ? [`${flag}=${word}`] : [flag, word]));
}
