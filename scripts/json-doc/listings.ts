/** The documents of `signalbox ls --json`, and the lines of `signalbox ls --watch`. */
import { VIEWS, type ViewId } from "../../src/model/tables/index.ts";
import { PARTS, ROWS } from "./rows.ts";
import { choice, list, object, type Root, ref, revision, type Schema, text, wall } from "./schema.ts";

/** What the rows of each view are. */
export const ROW_OF: Readonly<Record<ViewId, keyof typeof ROWS & string>> = {
  ...{ overview: "lockOrResource", locks: "lockOrResource", resources: "lockOrResource" },
  ...{ queues: "waiter", runs: "run", hosts: "host", groups: "group" },
  ...{ schedules: "schedule", workers: "worker" },
  ...{ drains: "drainRow", history: "pastRun", audit: "auditRecord", problems: "problem" },
};
const IDS = Object.keys(VIEWS) as ViewId[];

const version: Schema = {
  const: 1,
  description: "of this shape; fields may be added to it, none is taken away",
};
const prefix = text("of the keys in etcd");

const document = (id: ViewId) =>
  object(`\`signalbox ls ${id} --json\``, {
    ...{ version, revision: revision("revision of etcd at which all of it is true"), prefix },
    view: { const: id, description: "what is listed; without a word, `overview`" },
    rows: list(ROW_OF[id], "one for each thing that is listed"),
  });

function event(name: string, description: string, more: Record<string, Schema>): Schema {
  const at = revision("revision of etcd at which it is true");
  return object(description, {
    ...{ version, event: { const: name, description: "what has happened" }, revision: at, ...more },
  });
}

const key = text("the same for one thing as long as it is there");

export const EVENTS: Readonly<Record<string, Schema>> = {
  row: event("row", "A row that came or changed; at first, every row there is.", {
    ...{ key, row: { type: "object", description: "as in `rows` of the same view" } },
  }),
  ready: event("ready", "All rows that there were at first have been told.", {
    ...{ view: choice(IDS, "what is listed"), prefix },
  }),
  gone: event("gone", "A row that went.", { key }),
  away: event("away", "etcd does not answer; what was told may be outdated.", { since: wall("since when") }),
  back: event("back", "etcd answers again and was read anew; what changed meanwhile comes next.", {}),
};

export const LISTINGS: Root = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "signalbox ls --json, and the lines of signalbox ls --watch --json",
  oneOf: [...IDS.map(document), ...Object.values(EVENTS)],
  $defs: { ...ROWS, ...PARTS },
};

/** The schema of a row of a view. */
export const rowSchema = (id: ViewId): Schema => ref(ROW_OF[id]);
