/** A drain during grants: nothing is granted after its revision while it exists; afterwards the queue continues in order. */

import { writeFileSync } from "node:fs";
import { describe, expect, onTestFinished } from "vitest";
import { findFallingTokens } from "../../../fixtures/cluster/job-journal.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { parseTicket } from "../../../src/core/protocol/ticket.ts";

const { test } = TestCluster.startForFile();
const HOST = "web1.example.com";
const RUNS = 8;
const ROUNDS = 6;

/** From now on: revisions at which claims were granted, by token, and at which drains were lifted. */
function recordOf(namespace: TestNamespace, from: bigint): { grants: Map<bigint, bigint>; lifted: bigint[] } {
  const grants = new Map<bigint, bigint>();
  const lifted: bigint[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const ranges = [namespace.keys.locks(), namespace.keys.resources(), namespace.keys.drains()];
  const follow = async () => {
    for await (const { events } of namespace.store.watch({ ranges, from }, stop.signal)) {
      for (const event of events) {
        if (event.type === "delete" && event.key.startsWith(namespace.keys.drains().key))
          lifted.push(event.revision);
        if (event.type === "delete" || parseTicket(event.kv.value)?.state !== "held") continue;
        if (namespace.keys.parse(event.kv.key).kind === "mark") continue;
        const { createRevision, modRevision } = event.kv;
        if (!grants.has(createRevision)) grants.set(createRevision, modRevision);
      }
    }
  };
  follow().catch(() => {});
  return { grants, lifted };
}

/**
 * When the drain of a round comes: at once; when some run has started; or, with the first one that starts held up
 * until the drain stands, between the first grant and the others for certain.
 */
const MOMENTS = ["at once", "after a start", "between grants"] as const;

async function drainAt(
  namespace: TestNamespace,
  target: readonly string[],
  { names, file }: { names: readonly string[]; file: string | undefined },
): Promise<bigint> {
  if (file)
    await waitUntil("a run has started", () =>
      names.some((name) => namespace.jobs.journal.findLine(name, "start")),
    );
  const drain = namespace.start(["drain", ...target, "--yes", "--wait", "--json"]);
  if (file) {
    const hasDrain = async () => (await namespace.store.readRange(namespace.keys.drains())).count > 0;
    await waitUntil("the drain stands", hasDrain);
    writeFileSync(file, "");
  }
  const end = await drain.ended;
  expect(end).toExit(0);
  return BigInt(JSON.parse(end.stdout).drain.revision);
}

async function readRevision(namespace: TestNamespace): Promise<bigint> {
  return (await namespace.store.readRange(namespace.keys.drains())).revision;
}

describe.each([
  { scope: "lock", target: ["lock", "x"], options: "--lock x --wait", keepsPlaces: true },
  {
    scope: "resource",
    target: ["resource", "db"],
    options: "--no-lock --lease db=1:1 --wait",
    keepsPlaces: true,
  },
  { scope: "host", target: ["host", HOST], options: "--lock x --wait", keepsPlaces: false },
  { scope: "group", target: ["group", "web"], options: "--lock x --wait", keepsPlaces: false },
  { scope: "all", target: ["all"], options: "--lock x --wait", keepsPlaces: true },
])("a drain of a $scope", ({ target, options, keepsPlaces }) => {
  test("lets nothing be granted after its revision, at whatever moment it comes; the undrain lets them go on", async ({
    namespace,
  }) => {
    const { jobs } = namespace;
    await namespace.put(namespace.keys.group("web"), JSON.stringify([HOST]));
    const { grants, lifted } = recordOf(namespace, (await readRevision(namespace)) + 1n);
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = await readRevision(namespace);
      const moment = MOMENTS[round % MOMENTS.length];
      const file = moment === "between grants" ? `${jobs.journal.folder}/go${round}` : undefined;
      const names = Array.from({ length: RUNS }, (_, index) => `r${round}-${index}`);
      const started = names.map((name) =>
        jobs.start(name, `${options} --host ${HOST} --ttl 30s --termination-timeout 400ms`, {
          hold: file ? ["until", file] : [0],
        }),
      );
      if (moment === "after a start") await jobs.journal.waitForLine(names[1] ?? "", "start");
      const drained = await drainAt(namespace, target, { names, file });
      const startsThen = jobs.journal.listStarts().length;
      const undrain = await namespace.execute(["undrain", ...target, "--yes"]);
      expect(undrain).toExit(0);
      const until = await waitUntil("the undrain is seen", () => lifted[round]);
      await Promise.all(started.map(({ ended }) => ended)).then((all) => {
        expect(all.map(({ code }) => code)).toEqual(names.map(() => 0));
      });
      const meanwhile = [...grants].filter(([, at]) => at > drained && at < until);
      expect(meanwhile, jobs.journal.formatTimeline()).toEqual([]);
      const early = [...grants.values()].filter((at) => at > began && at < drained).length;
      if (file) expect(early, "grants before the drain").toBe(1);
      // What had started when the drain was empty had been granted before its revision.
      const tokens = jobs.journal
        .listStarts()
        .slice(0, startsThen)
        .map(({ token }) => token);
      expect(tokens.filter((token) => (grants.get(token) ?? 0n) > drained)).toEqual([]);
    }
    const starts = jobs.journal.listStarts();
    expect(starts).toHaveLength(ROUNDS * RUNS);
    if (keepsPlaces) expect(findFallingTokens(starts)).toEqual([]);
  });
});
