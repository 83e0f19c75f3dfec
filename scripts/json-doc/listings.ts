/** The documents of `signalbox ls --json`, and the lines of `signalbox ls --watch`. */
import { VIEWS, type ViewId } from "../../src/model/tables/index.ts";
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

/** What the rows of each view are. */
export const ROW_OF: Readonly<Record<ViewId, keyof typeof ROWS & string>> = {
  ...{ overview: "lockOrResource", locks: "lockOrResource", resources: "lockOrResource" },
  ...{ queues: "waiter", runs: "run", hosts: "host", groups: "group" },
  ...{ schedules: "schedule", workers: "worker" },
  ...{ drains: "drainRow", history: "pastRun", audit: "auditRecord", problems: "problem" },
};
const IDS = Object.keys(VIEWS) as ViewId[];

const version: JsonSchema = {
  const: 1,
  description: "of this shape; fields may be added to it, none is taken away",
};
const prefix = createTextSchema("of the keys in etcd");

const buildDocument = (id: ViewId) =>
  createObjectSchema(`\`signalbox ls ${id} --json\``, {
    ...{ version, revision: createRevisionSchema("revision of etcd at which all of it is true"), prefix },
    view: { const: id, description: "what is listed; without a word, `overview`" },
    rows: createListSchema(ROW_OF[id], "one for each thing that is listed"),
  });

function buildEventSchema(name: string, description: string, more: Record<string, JsonSchema>): JsonSchema {
  const at = createRevisionSchema("revision of etcd at which it is true");
  return createObjectSchema(description, {
    ...{ version, event: { const: name, description: "what has happened" }, revision: at, ...more },
  });
}

const key = createTextSchema("the same for one thing as long as it is there");

export const EVENTS: Readonly<Record<string, JsonSchema>> = {
  row: buildEventSchema("row", "A row that came or changed; at first, every row there is.", {
    ...{ key, row: { type: "object", description: "as in `rows` of the same view" } },
  }),
  ready: buildEventSchema("ready", "All rows that there were at first have been told.", {
    ...{ view: createChoiceSchema(IDS, "what is listed"), prefix },
  }),
  gone: buildEventSchema("gone", "A row that went.", { key }),
  away: buildEventSchema("away", "etcd does not answer; what was told may be outdated.", {
    since: createWallSchema("since when"),
  }),
  back: buildEventSchema(
    "back",
    "etcd answers again and was read anew; what changed meanwhile comes next.",
    {},
  ),
};

export const LISTINGS: RootSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "signalbox ls --json, and the lines of signalbox ls --watch --json",
  oneOf: [...IDS.map(buildDocument), ...Object.values(EVENTS)],
  $defs: { ...ROWS, ...PARTS },
};

/** The schema of a row of a view. */
export const buildRowSchema = (id: ViewId): JsonSchema => createRefSchema(ROW_OF[id]);
