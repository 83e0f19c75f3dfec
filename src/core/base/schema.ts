import * as v from "valibot";
import { type ParseResult, quoteValue } from "./text.ts";

// Schemas for external values: files, documents, options of the library, values in etcd. Nothing that `signalbox run`
// loads may import this file: loading valibot would slow down every run.

/** A fault of a value, for a message to the user. */
interface SchemaFault {
  /** Keys and indexes from the checked value to the wrong one. */
  path: readonly (string | number)[];
  what: string;
  /** The schema does not have the last key of the path. */
  isUnknown: boolean;
}

/**
 * Checks a value with a schema.
 * @returns the output of the schema, or the first fault. An unknown key is reported first, because the key that was
 *   meant is then missing. A missing key is a fault of its object
 */
export function applySchema<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
): { value: v.InferOutput<S> } | { fault: SchemaFault } {
  const { success, issues, output } = v.safeParse(schema, value);
  if (success) return { value: output };
  const issue = issues.find(isUnknownKey) ?? issues[0];
  const steps = isMissingKey(issue) ? issue.path?.slice(0, -1) : issue.path;
  const path = (steps ?? []).map(({ key }) => key as string | number);
  return { fault: { path, what: issue.message, isUnknown: isUnknownKey(issue) } };
}

/** Returns whether an issue of `strictObject` is about a key that the schema does not have. */
export function isUnknownKey({ type, expected }: v.BaseIssue<unknown>): boolean {
  return type === "strict_object" && expected === "never";
}

function isMissingKey(issue: v.BaseIssue<unknown>): boolean {
  return issue.path?.at(-1)?.origin === "key" && !isUnknownKey(issue);
}

/** Creates a message of a schema: the value received, and what is wrong with it. */
export function quoteInput(what: string): (issue: { input: unknown }) => string {
  return ({ input }) => `${quoteValue(input)} ${what}`;
}

/** A step of `pipe`: refuses a value with the fault that a function finds. */
export function refuseFault<T>(findFault: (value: T) => string | undefined): v.RawCheckAction<T> {
  return v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? findFault(dataset.value) : undefined;
    if (message !== undefined) addIssue({ message });
  });
}

/** A step of `pipe`: replaces a value by the result of a parser. */
export function parseWith<T, U>(parse: (value: T) => ParseResult<U>): v.RawTransformAction<T, U> {
  return v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parse(dataset.value);
    if ("value" in parsed) return parsed.value;
    addIssue({ message: parsed.fault });
    return NEVER;
  });
}
