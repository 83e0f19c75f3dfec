import * as v from "valibot";
import { isJsonObject } from "../../../base/parse-json.ts";
import { isUnknownKey, quoteInput } from "../../../base/schema.ts";
import { findNearest } from "../../../base/text.ts";
import { isText, type JsonFields } from "../../../schedule/json-fields.ts";

interface FieldsOptions {
  /** The message if a required key is missing. */
  missing?: string;
  /** Further keys, whose values are not read. */
  ignored?: readonly string[];
  /** Keys that need a value if they are there. */
  filled?: readonly string[];
}

/** Creates the schema of an object. A key without a value, which YAML reads as null, counts as missing. */
export function createFields<E extends v.ObjectEntries>(
  entries: E,
  { missing = "", ignored = [], filled = [] }: FieldsOptions = {},
) {
  const known = [...Object.keys(entries), ...ignored];
  return v.pipe(
    v.custom<JsonFields>(isJsonObject, quoteInput("is not an object")),
    v.transform((fields) =>
      Object.fromEntries(
        Object.entries(fields).filter(
          ([key, value]) => (value !== null || filled.includes(key)) && !ignored.includes(key),
        ),
      ),
    ),
    v.strictObject(entries, (issue) =>
      isUnknownKey(issue) ? describeUnknownKey(String(issue.input), known) : missing,
    ),
  );
}

function describeUnknownKey(key: string, known: readonly string[]): string {
  const meant = findNearest(key, known);
  return `unknown key; ${meant === undefined ? `there are: ${known.join(", ")}` : `did you mean ${meant}?`}`;
}

/** Creates the schema of a text that is not empty. @param what  the fault, after the value */
export function createText(what: string) {
  return v.custom<string>((value) => isText(value) && value !== "", quoteInput(what));
}
