/** The output of `signalbox ls --json` matches docs/json.md and docs/ls.schema.json. */

import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { startSampleQueues } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { findMismatches, resolveReference } from "../../../fixtures/find-mismatches.ts";
import { createTicket, keys as sampleKeys } from "../../../fixtures/protocol/samples.ts";
import {
  createRunningKey,
  createScheduleKeys,
  createWorkerKey,
} from "../../../fixtures/schedule/schedule-keys.ts";
import { createEndedRun } from "../../../fixtures/state/sample-snapshots.ts";
import { buildDocuments, buildRowSchema, EVENTS, LISTINGS } from "../../../scripts/json-doc.ts";
import { LISTINGS as VIEWS } from "../../../src/cli/commands/see/ls/ls.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";
import { appendPastRun } from "../../../src/core/protocol/history.ts";
import type { Ticket } from "../../../src/core/protocol/ticket.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** The fields that only runs of schedules have, in an archive. */
const OF_SCHEDULES = ["schedule", "scheduled", "attempt", "deviation", "count", "until"];

/** Something of everything: what real commands leave, and what only happens now and then, put by hand. */
async function putSamples(namespace: TestNamespace): Promise<void> {
  const { keys, store } = namespace;
  await startSampleQueues(namespace, "--record-args");
  for (const line of [
    "drain lock quiet --for 1h --reason upgrade --yes",
    "resource set disk 4 --order 1 --note spare --yes",
    "resource set FQDN_mem MEMMB --yes",
    "group set web web1.example.com web2.example.com --yes",
  ])
    await namespace.expectDone(line);
  const by = { by: "ann@ops", at: 1, why: "stuck" };
  const buildTicketPut = (lock: string, run: string, more: Partial<Ticket>) => ({
    op: "put" as const,
    key: keys.lock(lock, run.padEnd(16, run)),
    value: serializeTicket(createTicket({ run: run.padEnd(16, run), ...more })),
  });
  const put = (key: string, value: string) => ({ op: "put" as const, key, value });
  await store.commitTxn({
    compare: [],
    success: [
      buildTicketPut("reset", "a", { state: "held", grantedAt: 2, reset: by, args: ["-x"], label: "l" }),
      buildTicketPut("reset", "b", {
        state: "waiting",
        reset: by,
        until: 5,
        grantedAt: 3,
        args: [],
        label: "l",
      }),
      buildTicketPut("grace", "c", { state: "grace", grantedAt: 2, until: 3 }),
      buildTicketPut("turn", "d", { state: "admitted", shared: true }),
      put(keys.lock("broken", "e".repeat(16)), "{"),
      put(keys.group("bad"), "{"),
      put(keys.drain("host", "web1.example.com"), serializeDrain({ by: "ann", at: 1, until: 2 })),
      put(keys.drain("all", "all"), serializeDrain({ by: "ann", at: 1, why: "freeze" })),
      put(
        keys.host("web1.example.com"),
        '{"v":1,"cpu":4,"memMb":8,"macros":{"RACK":"r1"},"version":"1","seenAt":1}',
      ),
      put(
        keys.history("past"),
        appendPastRun(
          undefined,
          createEndedRun({
            label: "nightly",
            reason: "reset by ann",
            tail: "no room",
            shared: true,
            leases: { db: 2 },
          }),
        ),
      ),
      put(
        keys.audit("0".repeat(20)),
        '{"v":1,"at":1,"user":"root","host":"h","sudoUser":"ann","action":"prune","target":"audit","seen":"7","reason":"old","outcome":"done"}',
      ),
    ],
    failure: [],
  });
}

const JOB = { cron: "@at 2026-11-30T12:00:00Z", removeAfter: "success" } as const;
/** The fields that no job has: it is due once, on one host. */
const OF_LASTING_SCHEDULES = ["fault", "states", "hosts"];

/** Schedules in every state in which a field is there, and workers. */
async function putSchedules({ store, keys }: TestNamespace): Promise<void> {
  const open = { scheduled: 1, runAt: 2, attempt: 1, failures: 1, kind: "due" } as const;
  const last = { scheduled: 1, startedAt: 1, endedAt: 2, late: 0, result: "ok", run: "r1" } as const;
  const kvs = [
    ...createScheduleKeys("whole", {}, { open: [open], last }),
    ...createScheduleKeys("split", { on: "every-host" }),
    ...createScheduleKeys("skipped", {}, { skipped: { since: 1, count: 2, reason: "the load is high" } }),
    ...createScheduleKeys("paused", {}, { pause: { by: "signalbox", at: 1, why: "after 3 failures" } }),
    ...createScheduleKeys("job", JOB, {
      open: [open],
      last,
      dead: 1,
      skipped: { since: 1, count: 2, reason: "the load is high" },
      pause: { by: "ann", at: 1 },
    }),
    createRunningKey("whole"),
    createRunningKey("job"),
    ...createScheduleKeys("later", JOB),
    createRunningKey("odd", { run: "b".repeat(16) }),
    createWorkerKey("w1"),
  ];
  const own = (key: string) => keys.prefix + key.slice(sampleKeys.prefix.length);
  const put = (key: string, value: string) => ({ op: "put" as const, key, value });
  await store.commitTxn({
    compare: [],
    success: [
      ...kvs.map(({ key, value }) => put(own(key), value)),
      put(
        keys.due("split", "web1.example.com"),
        formatDue({
          next: 9,
          runAt: 9,
          open: [open],
          last,
          dead: 1,
          skipped: { since: 1, count: 2, reason: "the load is high" },
        }),
      ),
      ...[keys.schedule("bad"), keys.running("whole", 0), keys.worker("bad")].map((key) => put(key, "{")),
    ],
    failure: [],
  });
}

/** Names of the fields of a row that are there in some row. */
function present(rows: readonly object[]): Set<string> {
  return new Set(rows.flatMap((row) => Object.keys(row)));
}

describe.concurrent("ls --json", () => {
  test("is as its schema says in every view, and every field that it speaks of is there", async ({
    namespace,
  }) => {
    await putSamples(namespace);
    await putSchedules(namespace);
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
