/** The output of `signalbox ls --json` matches docs/json.md and docs/ls.schema.json. */

import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { putSampleSchedules, putSamples } from "../../../fixtures/cluster/sample-site.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { findMismatches, resolveReference } from "../../../fixtures/find-mismatches.ts";
import { buildDocuments, buildRowSchema, EVENTS, LISTINGS } from "../../../scripts/json-doc.ts";
import { LISTINGS as VIEWS } from "../../../src/cli/commands/see/ls/ls.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** The fields that only runs of schedules have, in an archive. */
const OF_SCHEDULES = ["schedule", "scheduled", "attempt", "deviation", "count", "until"];

/** The fields that no job has: it is due once, on one host. */
const OF_LASTING_SCHEDULES = ["fault", "states", "hosts"];

/** Names of the fields of a row that are there in some row. */
function present(rows: readonly object[]) {
  return new Set(rows.flatMap((row) => Object.keys(row)));
}

describe.concurrent("ls --json", () => {
  test("is as its schema says in every view, and every field that it speaks of is there", async ({
    namespace,
  }) => {
    await putSamples(namespace);
    await putSampleSchedules(namespace);
    for (const view of VIEWS) {
      const { code, stdout } = await namespace.execute(["ls", view, "--json", "--all"]);
      const document = JSON.parse(stdout) as { rows: object[] };
      const wrong = findMismatches(LISTINGS, LISTINGS, document);
      const bad = document.rows.flatMap((row) => findMismatches(LISTINGS, buildRowSchema(view), row));
      expect({ view, code, bad, wrong }).toEqual({ view, code: 0, bad: [], wrong: [] });
      const fields = Object.keys(
        resolveReference(LISTINGS, buildRowSchema(view).$ref ?? "").properties ?? {},
      );
      const lacking = fields.filter((field) => !present(document.rows).has(field));
      // Locks are not configured, and their names have no macros.
      const ofOthers = {
        locks: ["configured", "sum"],
        history: OF_SCHEDULES,
        jobs: OF_LASTING_SCHEDULES,
      } as Record<string, string[]>;
      expect({
        view,
        lacking: lacking.filter((field) => !ofOthers[view]?.includes(field)),
      }).toEqual({
        view,
        lacking: [],
      });
    }
  });

  test("has the fields of schedules in an archive", async ({ namespace }) => {
    const common = { v: 1, schedule: "backup", type: "backup", scheduled: 1, endedAt: 9 };
    const records = [
      { ...common, id: "a", result: "skipped", count: 2, until: 3 },
      {
        ...common,
        id: "b",
        result: "ok",
        run: "b",
        attempt: 1,
        startedAt: 8,
        late: 7,
        deviation: "too-short",
      },
    ];
    const path = cluster.createPath(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const document = (await namespace.executeJson(["ls", "history", `--archive=${path}`])) as {
      rows: object[];
    };
    expect(findMismatches(LISTINGS, LISTINGS, document)).toEqual([]);
    expect(document.rows.flatMap((row) => findMismatches(LISTINGS, buildRowSchema("history"), row))).toEqual(
      [],
    );
    expect([...present(document.rows)]).toEqual(expect.arrayContaining(OF_SCHEDULES));
  });

  test("tells lines that are as the schema says", async ({ namespace }) => {
    await putSamples(namespace);
    const proxy = await namespace.startProxy();
    const watch = namespace.start("ls --watch", { endpoints: [proxy.url] });
    await watch.waitForOutput('"event":"ready"');
    const remove = (lock: string) =>
      namespace.write({ op: "delete", ...namespace.keys.getQueueRange("lock", lock) });
    await remove("turn");
    await watch.waitForOutput(/"event":"gone".*"key":"lock\/turn"/);
    proxy.mode = "refuse";
    proxy.reset();
    await watch.waitForOutput('"event":"away"');
    proxy.mode = "forward";
    await watch.waitForOutput('"event":"back"');
    watch.kill("SIGTERM");
    const lines = (await watch.ended).stdout.trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line) as { event: string; row?: object });
    for (const event of events) {
      expect(findMismatches(LISTINGS, EVENTS[event.event] ?? { enum: [] }, event)).toEqual([]);
      if (event.row) expect(findMismatches(LISTINGS, buildRowSchema("overview"), event.row)).toEqual([]);
    }
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(Object.keys(EVENTS)));
  });

  test("is documented as it is: run `node scripts/json-doc.ts` where this fails", () => {
    for (const [path, text] of Object.entries(buildDocuments()))
      expect(readFileSync(path, "utf8")).toBe(text);
  });
});

describe.concurrent("the validator", () => {
  test.each([
    [{ type: "string" }, 1],
    [{ enum: ["a"] }, "b"],
    [{ const: 1 }, 2],
    [{ pattern: "^[0-9]+$", type: "string" }, "x"],
    [{ type: "integer", minimum: 0 }, -1],
    [{ type: "array", items: { type: "string" } }, ["a", 1]],
    [{ properties: {}, additionalProperties: false } as const, { a: 1 }],
    [{ required: ["a"] }, {}],
    [{ oneOf: [{ type: "string" }, { enum: ["a"] }] }, "a"],
    [{ properties: { a: { type: "string" } } }, { a: 1 }],
  ])("finds what does not fit %j: %j", (schema, value) => {
    expect(findMismatches(LISTINGS, schema, value)).toHaveLength(1);
  });
});
