/**
 * Generates the listings part of docs/json.md, and docs/ls.schema.json, from the views: `node scripts/json-doc.ts`. A test
 * fails if they are stale.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { OUTCOME_DOCUMENTS } from "../src/cli/frame/outcome-json.ts";
import { KEY_DETAIL_JSON, KEYS_JSON, KEYS_WITH_VALUES_JSON } from "../src/cli/views/etcd-keys.ts";
import { MEMBERS_JSON } from "../src/cli/views/etcd-members.ts";
import { SESSIONS_JSON } from "../src/cli/views/etcd-sessions.ts";
import { USERS_JSON } from "../src/cli/views/etcd-users.ts";
import { VIEWS, type ViewId } from "../src/cli/views/index.ts";
import {
  describeChoice,
  describeField,
  describeInstant,
  describeObject,
  describeRevision,
  describeText,
  type JsonObject,
} from "../src/cli/views/json.ts";
import { OVERVIEW_JSON } from "../src/cli/views/overview.ts";
import type { JsonSchema } from "../src/core/base/json-schema.ts";

export interface RootSchema extends JsonSchema {
  $schema: string;
  title: string;
  $defs: Readonly<Record<string, JsonSchema>>;
}

type Field = Parameters<typeof describeObject>[2][string];

const IDS = Object.keys(VIEWS) as ViewId[];
/** The rows of the views, each once, and the objects that they contain. */
const ROWS = new Set(Object.values(VIEWS).map(({ json }) => json));
const PARTS = listParts([...ROWS]);
const OVERVIEW_PARTS = [...listParts([OVERVIEW_JSON])].filter((part) => !PARTS.has(part));

function buildDefinitions(objects: readonly JsonObject<never>[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(objects.map(({ name, schema }) => [name, schema]));
}

function listParts(objects: readonly JsonObject<never>[]): Set<JsonObject<never>> {
  const found = new Set(objects.flatMap(({ parts }) => parts));
  for (const { parts } of found) for (const part of parts) found.add(part); // also visits those added here
  return found;
}

/** What the commands about etcd print, by command. */
const ETCD_DOCUMENTS: readonly JsonObject<never>[] = [
  MEMBERS_JSON,
  SESSIONS_JSON,
  USERS_JSON,
  KEYS_JSON,
  KEYS_WITH_VALUES_JSON,
  KEY_DETAIL_JSON,
];
const ETCD_PARTS = listParts(ETCD_DOCUMENTS);

const getNothing = () => undefined;
const version = describeField(
  { const: 1, description: "version of the format; new fields may be added, none is removed" },
  getNothing,
);
const revision = describeRevision("etcd revision of the data", getNothing);
const prefix = describeText("prefix of all keys in etcd", getNothing);
const key = describeText("key of the row, which stays the same as long as the row exists", getNothing);

/** Builds the schema of a row of a view. */
export function buildRowSchema(id: ViewId): JsonSchema {
  return { $ref: `#/$defs/${VIEWS[id].json.name}` };
}

function buildDocument(id: ViewId): JsonSchema {
  const rows = { type: "array", items: buildRowSchema(id), description: "rows of the view" };
  const archive = describeText(
    "only with `--archive`, instead of `revision` and `prefix`: the file",
    getNothing,
  );
  const source =
    id === "history"
      ? { "revision?": revision, "prefix?": prefix, "archive?": archive }
      : { revision, prefix };
  return describeObject("", `\`signalbox ls ${id} --json\``, {
    version,
    ...source,
    view: describeField({ const: id, description: "name of the view; `overview` by default" }, getNothing),
    rows: describeField(rows, getNothing),
  }).schema;
}

function buildEventSchema(name: string, description: string, more: Record<string, Field>): JsonSchema {
  const event = describeField({ const: name, description: "kind of event" }, getNothing);
  return describeObject("", description, { version, event, revision, ...more }).schema;
}

export const EVENTS: Readonly<Record<string, JsonSchema>> = {
  row: buildEventSchema("row", "A row was added or changed. At the start, every row is written.", {
    key,
    row: describeField({ type: "object", description: "row, as in `rows` of the same view" }, getNothing),
  }),
  ready: buildEventSchema("ready", "All rows that existed at the start have been written.", {
    view: describeChoice(IDS, "name of the view", getNothing),
    prefix,
  }),
  gone: buildEventSchema("gone", "A row was removed.", { key }),
  away: buildEventSchema("away", "etcd does not answer. The rows may be outdated.", {
    since: describeInstant("start of the outage", getNothing),
  }),
  back: buildEventSchema(
    "back",
    "etcd answers again, and was read again. Changes during the outage follow.",
    {},
  ),
};

export const LISTINGS: RootSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "signalbox ls --json, and the lines of signalbox ls --watch --json",
  oneOf: [...IDS.map(buildDocument), ...Object.values(EVENTS)],
  $defs: buildDefinitions([...ROWS, ...PARTS]),
};

/** The schema of what `signalbox etcd WHAT --json` prints. */
export const ETCD_SCHEMA: RootSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "signalbox etcd --json",
  $defs: buildDefinitions([...ETCD_DOCUMENTS, ...ETCD_PARTS]),
};

const OUTCOME_PARTS = [...listParts(OUTCOME_DOCUMENTS)];

/** The schema of what commands that act print with `--json`. */
export const OUTCOME_SCHEMA: RootSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "--json of commands that act",
  $defs: buildDefinitions([...OUTCOME_DOCUMENTS, ...OUTCOME_PARTS]),
};

/** The objects of outcomes that no listing has. */
const OWN_OUTCOME_PARTS = OUTCOME_PARTS.filter((part) => !PARTS.has(part));

function renderSections(objects: readonly JsonObject<never>[]): string {
  return objects.map(({ name, schema }) => renderSection(name, schema)).join("\n");
}

/** Renders the part of docs/json.md that is generated from the schema. */
function renderListings(): string {
  const properties = { ...LISTINGS.oneOf?.[0]?.properties, view: EVENTS.ready?.properties?.view ?? {} };
  const rows = { type: "array", items: {}, description: "rows of the view" };
  const document = { properties: { ...properties, rows }, required: Object.keys(properties) };
  const kinds = [...ROWS].map((row) => {
    const views = IDS.flatMap((id) => (VIEWS[id].json === row ? [`\`ls ${id}\``] : []));
    return renderSection(`${row.name}: rows of ${views.join(", ")}`, row.schema);
  });
  const events = Object.entries(EVENTS).map(([name, schema]) => renderSection(`"event": "${name}"`, schema));
  return [
    "### The document",
    "",
    renderFieldTable(document),
    "",
    ...kinds,
    renderSections([...PARTS]),
    "### overview",
    "",
    "`signalbox overview --json` prints `revision`, `prefix` and these fields.",
    "",
    renderFieldTable(OVERVIEW_JSON.schema),
    "",
    renderSections(OVERVIEW_PARTS),
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
  if (type === undefined) return "any value";
  const names: Readonly<Record<string, string>> = { string: "text", integer: "whole number" };
  return [type]
    .flat()
    .map((one) => names[one] ?? one)
    .join(" or ");
}

function formatItemsType(items: JsonSchema): string {
  return items.type === undefined && items.$ref === undefined ? "rows (see below)" : formatType(items);
}

function formatMeaning({ enum: values, description = "", $ref }: JsonSchema): string {
  if ($ref !== undefined) return DEFINITIONS[getDefinitionName($ref)]?.description ?? "";
  if (values === undefined) return description;
  const [noun, ...explanations] = description.split(". ");
  return [`${noun}: ${values.map((one) => `\`${one}\``).join(", ")}`, ...explanations].join(". ");
}

const DEFINITIONS = buildDefinitions([
  ...ROWS,
  ...PARTS,
  ...OVERVIEW_PARTS,
  ...ETCD_DOCUMENTS,
  ...ETCD_PARTS,
  ...OUTCOME_DOCUMENTS,
  ...OUTCOME_PARTS,
]);

const getDefinitionName = (reference: string) => reference.slice("#/$defs/".length);

const DOCS = resolve(import.meta.dirname, "../docs");
const BEGIN = "<!-- made by scripts/json-doc.ts: begin -->";
const END = "<!-- end -->";

/** The generated parts of docs/json.md, in order. */
const RENDERERS = [
  renderListings,
  () => renderSections([...OUTCOME_DOCUMENTS, ...OWN_OUTCOME_PARTS]),
  () => renderSections([...ETCD_DOCUMENTS, ...ETCD_PARTS]),
];

/** Builds the generated documents. @returns the contents of the files, by path */
export function buildDocuments(): Record<string, string> {
  const page = resolve(DOCS, "json.md");
  const [start = "", ...parts] = readFileSync(page, "utf8").split(BEGIN);
  const rendered = parts.map(
    (part, at) => `${BEGIN}\n\n${RENDERERS[at]?.()}\n${part.slice(part.indexOf(END))}`,
  );
  return {
    [page]: start + rendered.join(""),
    [resolve(DOCS, "ls.schema.json")]: `${JSON.stringify(LISTINGS, null, 1)}\n`,
  };
}

if (import.meta.main) for (const [path, text] of Object.entries(buildDocuments())) writeFileSync(path, text);
