/** Fields as tables of docs/json.md. */
import { EVENTS, LISTINGS, ROW_OF } from "./listings.ts";
import { PARTS, ROWS } from "./rows.ts";
import type { Schema } from "./schema.ts";

/** The part of docs/json.md that is made from the schema. */
export function listingsText(): string {
  const properties = { ...LISTINGS.oneOf?.[0]?.properties, view: EVENTS.ready?.properties?.view ?? {} };
  const rows = { type: "array", items: {}, description: "one for each thing that is listed" };
  const document = { properties: { ...properties, rows }, required: Object.keys(properties) };
  const kinds = Object.entries(ROWS).map(([name, schema]) => {
    const views = Object.entries(ROW_OF).flatMap(([view, row]) => (row === name ? [`\`ls ${view}\``] : []));
    return section(`${name}: rows of ${views.join(", ")}`, schema);
  });
  const parts = Object.entries(PARTS).map(([name, schema]) => section(name, schema));
  const events = Object.entries(EVENTS).map(([name, schema]) => section(`"event": "${name}"`, schema));
  return [
    ...["### The document", "", fieldTable(document), ""],
    ...[...kinds, ...parts],
    ...["### Lines of `ls --watch`", "", "One JSON document a line.", "", ...events],
  ].join("\n");
}

function section(title: string, schema: Schema): string {
  return `#### ${title}\n\n${schema.description ?? ""}\n\n${fieldTable(schema)}\n`;
}

function fieldTable({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const optional = required.includes(name) ? "" : ", may be missing";
    return `| \`${name}\` | ${typeText(field)}${optional} | ${meaning(field)} |`;
  });
  return ["| field | type | |", "| --- | --- | --- |", ...rows].join("\n");
}

function typeText(schema: Schema): string {
  const { type, items, pattern, $ref } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return "text";
  if (items !== undefined) return `list of ${itemsText(items)}`;
  if (pattern !== undefined) return "number as text";
  return type === "string" ? "text" : type === "integer" ? "whole number" : String(type);
}

function itemsText({ $ref, type }: Schema): string {
  if ($ref !== undefined) return nameOf($ref);
  return type === "string" ? "texts" : "rows, as below";
}

function meaning({ enum: values, description = "", $ref }: Schema): string {
  if ($ref !== undefined) return PARTS[nameOf($ref)]?.description ?? "";
  const choices = values?.map((one) => `\`${one}\``).join(", ");
  if (choices === undefined) return description;
  return description.includes("`") ? `${choices}. ${description}` : `${description}: ${choices}`;
}

const nameOf = (reference: string) => reference.slice("#/$defs/".length);
