import { parseDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { findNameFault } from "../../base/text.ts";
import { parseReasonFlag } from "../../commands/command-line/flags.ts";
import { CommandLineError, parseCall } from "../../commands/command-line/parse-call.ts";
import type { Call } from "../../commands/spec.ts";
import { toCommandWords } from "./command-words.ts";
import { type Form, type FormField, getFieldValues } from "./dialog-form.ts";

/** What is wrong with a form. */
export interface FormFault {
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
    parseReasonFlag(parseForm(form));
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // The reference to the command line's help is of no use in the console.
    return [{ text: error instanceof CommandLineError ? error.fault : error.message }];
  }
}

/** Parses a form as its command will see it. @throws UsageError */
function parseForm(form: Form): Call {
  return parseCall(form.spec, toCommandWords(form));
}
