/** Renders the field tables of docs/json.md. */
import { EVENTS, LISTINGS, ROW_OF } from "./listings.ts";
import { PARTS, ROWS } from "./rows.ts";
import type { JsonSchema } from "./schema.ts";

/** Renders the part of docs/json.md that is generated from the schema. */
export function renderListings(): string {
  const properties = { ...LISTINGS.oneOf?.[0]?.properties, view: EVENTS.ready?.properties?.view ?? {} };
  const rows = { type: "array", items: {}, description: "rows of the view" };
  const document = { properties: { ...properties, rows }, required: Object.keys(properties) };
  const kinds = Object.entries(ROWS).map(([name, schema]) => {
    const views = Object.entries(ROW_OF).flatMap(([view, row]) => (row === name ? [`\`ls ${view}\``] : []));
    return renderSection(`${name}: rows of ${views.join(", ")}`, schema);
  });
  const parts = Object.entries(PARTS).map(([name, schema]) => renderSection(name, schema));
  const events = Object.entries(EVENTS).map(([name, schema]) => renderSection(`"event": "${name}"`, schema));
  return [
    "### The document",
    "",
    renderFieldTable(document),
    "",
    ...kinds,
    ...parts,
    "### Lines of `ls --watch`",
    "",
    "One JSON document per line.",
    "",
    ...events,
  ].join("\n");
}

function renderSection(title: string, schema: JsonSchema): string {
  return `#### ${title}\n\n${schema.description ?? ""}\n\n${renderFieldTable(schema)}\n`;
}

function renderFieldTable({ properties = {}, required = [] }: JsonSchema): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? "" : ", optional";
    return `| \`${name}\` | ${formatType(field)}${optional} | ${formatMeaning(field)} |`;
  });
  return ["| field | type | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function formatType(schema: JsonSchema): string {
  const { type, items, pattern, $ref } = schema;
  if ($ref !== undefined) return getDefinitionName($ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return "text";
  if (items !== undefined) return `list of ${formatItemsType(items)}`;
  if (pattern !== undefined) return "number as text";
  return type === "string" ? "text" : type === "integer" ? "whole number" : String(type);
}

function formatItemsType({ $ref, type }: JsonSchema): string {
  if ($ref !== undefined) return getDefinitionName($ref);
  return type === "string" ? "text" : "rows (see below)";
}

function formatMeaning({ enum: values, description = "", $ref }: JsonSchema): string {
  if ($ref !== undefined) return PARTS[getDefinitionName($ref)]?.description ?? "";
  if (values === undefined) return description;
  const [noun, ...explanations] = description.split(". ");
  return [`${noun}: ${values.map((one) => `\`${one}\``).join(", ")}`, ...explanations].join(". ");
}

const getDefinitionName = (reference: string) => reference.slice("#/$defs/".length);
