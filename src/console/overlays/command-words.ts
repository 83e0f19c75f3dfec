import { quoteShellWord } from "../../base/shell.ts";
import { type Form, type FormField, getFieldValues } from "./dialog-form.ts";

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
  const { id, kind, value, clears, unchanged } = field;
  if (!id.startsWith("flag:") || value === unchanged) return [];
  const flag = `--${id.slice("flag:".length)}`;
  if (kind === "switch") return value === true ? [flag] : [];
  const values = value === "" && clears !== undefined ? [""] : getFieldValues(field);
  // Without `=`, a reader would take a value that starts with a dash for a flag, and the parser would take `--` for
  // the end.
  return values.flatMap((word) => (word.startsWith("-") ? [`${flag}=${word}`] : [flag, word]));
}
