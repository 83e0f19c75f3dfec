import { isJsonObject } from "../../../base/parse-json.ts";
import { findNameFault, quoteText } from "../../../base/text.ts";
import { type Definition, findDefinitionFault } from "../../../schedule/definition.ts";
import { escapeInvisible } from "../../json-output.ts";

/** Formats all schedules as one JSON text in a fixed order, to be kept in git. */
export function formatScheduleDocument(definitions: ReadonlyMap<string, Definition>): string {
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  const schedules = Object.fromEntries(sorted.map(([id, definition]) => [id, sortFields(definition)]));
  return escapeInvisible(`${JSON.stringify({ version: 1, schedules }, undefined, 2)}\n`);
}

/** Parses the text of `formatScheduleDocument`. @returns all faults, each with the name of its schedule */
export function parseScheduleDocument(
  text: string,
): { definitions: ReadonlyMap<string, Definition> } | { faults: readonly string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { faults: [`it is not JSON: ${(error as Error).message}`] };
  }
  const schedules = isJsonObject(value) ? value.schedules : undefined;
  if (!isJsonObject(schedules)) return { faults: ['it is not {"schedules": {KEY: DEFINITION, …}}'] };
  const definitions = new Map<string, Definition>();
  const faults: string[] = [];
  for (const [id, definition] of Object.entries(schedules)) {
    const fault = findNameFault(id) ?? findFault(definition);
    if (fault === undefined) definitions.set(id, definition as Definition);
    else faults.push(`schedule ${quoteText(id)}: ${fault}`);
  }
  return faults.length > 0 ? { faults } : { definitions };
}

function findFault(definition: unknown): string | undefined {
  return isJsonObject(definition) ? findDefinitionFault(definition) : "its definition is not an object";
}

function sortFields(definition: Definition): object {
  return Object.fromEntries(Object.entries(definition).sort(([a], [b]) => (a < b ? -1 : 1)));
}
