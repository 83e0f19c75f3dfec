import { SignalboxError } from "../../base/errors.ts";
import { nameFault, quoted } from "../../base/text.ts";
import { checkedDefinition, type Definition } from "../../schedule/definition.ts";
import { isFields } from "../../schedule/fields.ts";
import { withEscapes } from "../table.ts";

/** All schedules as one JSON text, always in the same order, to be kept in git. */
export function documentText(definitions: ReadonlyMap<string, Definition>): string {
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  const schedules = Object.fromEntries(sorted.map(([id, definition]) => [id, ordered(definition)]));
  return withEscapes(`${JSON.stringify({ version: 1, schedules }, undefined, 2)}\n`);
}

/** What `documentText` writes. @returns every fault, each with the schedule it is about */
export function readDocument(
  text: string,
): { definitions: ReadonlyMap<string, Definition> } | { faults: readonly string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { faults: [`it is not JSON: ${(error as Error).message}`] };
  }
  const schedules = isFields(value) ? value.schedules : undefined;
  if (!isFields(schedules)) return { faults: ['it is not {"schedules": {KEY: DEFINITION, …}}'] };
  const definitions = new Map<string, Definition>();
  const faults: string[] = [];
  for (const [id, definition] of Object.entries(schedules)) {
    const fault = nameFault(id) ?? faultOf(definition);
    if (fault === undefined) definitions.set(id, definition as Definition);
    else faults.push(`schedule ${quoted(id)}: ${fault}`);
  }
  return faults.length > 0 ? { faults } : { definitions };
}

function faultOf(definition: unknown): string | undefined {
  if (!isFields(definition)) return "its definition is not an object";
  try {
    checkedDefinition(definition as unknown as Definition);
    return undefined;
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}

function ordered(definition: Definition): object {
  return Object.fromEntries(Object.entries(definition).sort(([a], [b]) => (a < b ? -1 : 1)));
}
