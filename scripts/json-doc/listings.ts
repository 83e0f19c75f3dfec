/** JSON Schemas for the documents of `signalbox ls --json` and the lines of `signalbox ls --watch`. */
import { VIEWS, type ViewId } from "../../src/views/index.ts";
import { PARTS, ROWS } from "./rows.ts";
import {
  createChoiceSchema,
  createListSchema,
  createObjectSchema,
  createRefSchema,
  createRevisionSchema,
  createTextSchema,
  createWallSchema,
  type JsonSchema,
  type RootSchema,
} from "./schema.ts";

/** The row schema of each view. */
export const ROW_OF: Readonly<Record<ViewId, keyof typeof ROWS & string>> = {
  overview: "lockOrResource",
  locks: "lockOrResource",
  resources: "lockOrResource",
  queues: "waiter",
  runs: "run",
  hosts: "host",
  groups: "group",
  schedules: "schedule",
  workers: "worker",
  drains: "drainRow",
  history: "pastRun",
  audit: "auditRecord",
  problems: "problem",
};
const IDS = Object.keys(VIEWS) as ViewId[];

const version: JsonSchema = {
  const: 1,
  description: "version of the format; new fields may be added, none is removed",
};
const prefix = createTextSchema("prefix of all keys in etcd");

const buildDocument = (id: ViewId) =>
  createObjectSchema(`\`signalbox ls ${id} --json\``, {
    version,
    revision: createRevisionSchema("etcd revision of the data"),
    prefix,
    view: { const: id, description: "name of the view; `overview` by default" },
    rows: createListSchema(ROW_OF[id], "rows of the view"),
  });

function buildEventSchema(name: string, description: string, more: Record<string, JsonSchema>): JsonSchema {
  const at = createRevisionSchema("etcd revision of the data");
  return createObjectSchema(description, {
    version,
    event: { const: name, description: "kind of event" },
    revision: at,
    ...more,
  });
}

const key = createTextSchema("key of the row, which stays the same as long as the row exists");

export const EVENTS: Readonly<Record<string, JsonSchema>> = {
  row: buildEventSchema("row", "A row was added or changed. At the start, every row is written.", {
    key,
    row: { type: "object", description: "row, as in `rows` of the same view" },
  }),
  ready: buildEventSchema("ready", "All rows that existed at the start have been written.", {
    view: createChoiceSchema(IDS, "name of the view"),
    prefix,
  }),
  gone: buildEventSchema("gone", "A row was removed.", { key }),
  away: buildEventSchema("away", "etcd does not answer. The rows may be outdated.", {
    since: createWallSchema("start of the outage"),
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
  $defs: { ...ROWS, ...PARTS },
};

/** Builds the schema of a row of a view. */
export const buildRowSchema = (id: ViewId): JsonSchema => createRefSchema(ROW_OF[id]);
