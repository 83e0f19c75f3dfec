import { parseDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { nameFault } from "../../base/text.ts";
import { reasonFlag } from "../../commands/flags.ts";
import { parseCall } from "../../commands/parse.ts";
import type { Call } from "../../commands/spec.ts";
import { type Form, type FormField, valuesOf } from "./form.ts";
import { wordsOf } from "./words.ts";

/** What is wrong with a form. */
export interface Fault {
  /** The field; undefined where it is about all of them. */
  id?: string;
  text: string;
}

/** The first thing that is wrong with a form, as a sentence; undefined where nothing is. */
export function faultOf(form: Form): string | undefined {
  return faultsOf(form)[0]?.text;
}

/** What keeps a form from being carried out, in the order of its fields; the real parser has the last word. */
export function faultsOf(form: Form): Fault[] {
  const own = form.fields.flatMap(fieldFaults);
  return own.length > 0 ? own : parserFaults(form);
}

function fieldFaults(field: FormField): Fault[] {
  const { id, label, isRequired } = field;
  const values = valuesOf(field);
  if (values.length === 0)
    return isRequired && field.kind !== "switch" ? [{ id, text: `${label} is missing` }] : [];
  const fault = values.map((value) => valueFault(field, value)).find((text) => text !== undefined);
  return fault === undefined ? [] : [{ id, text: `${label}: ${fault}` }];
}

function valueFault(field: FormField, value: string): string | undefined {
  if (field.unit === "DURATION" || field.unit === "AGE") {
    const parsed = parseDuration(value);
    return "fault" in parsed ? parsed.fault : undefined;
  }
  return field.names === undefined ? undefined : nameFault(value);
}

function parserFaults(form: Form): Fault[] {
  try {
    reasonFlag(parsedOf(form));
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // What points to the command line's help is for those who are on the command line.
    return [{ text: error.message.replace(/; see: signalbox .*$/s, "") }];
  }
}

/** A form as its command will see it. @throws UsageError */
export function parsedOf(form: Form): Call {
  return parseCall(form.spec, wordsOf(form));
}
