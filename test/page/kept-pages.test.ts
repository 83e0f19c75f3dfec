/** Pages of states that follow each other: what is kept from one to the next is what a look at the last one alone gives. */
import { array, assert, asyncProperty, constantFrom, integer, record } from "fast-check";
import { expect, it } from "vitest";
import { keys } from "../../fixtures/protocol/samples.ts";
import {
  createDrainKey,
  createHistoryKey,
  createHostKey,
  createKeyValue,
  createResourceKey,
  createTicketKey,
  NOW,
} from "../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../fixtures/state/snapshot-follower.ts";
import { pickCount } from "../../fixtures/test-effort.ts";
import { findProblems } from "../../src/cli/views/problems.ts";
import { MINUTE_MS, type WallTime } from "../../src/core/base/clock.ts";
import type { Page } from "../../src/page/html.ts";
import { type ListQuery, SiteLists } from "../../src/page/lists.ts";
import { buildOverviewPage } from "../../src/page/overview.ts";
import { buildProblemId } from "../../src/site/state/problem.ts";
import type { Snapshot } from "../../src/site/state/snapshot.ts";

const LISTS: readonly (readonly [id: ListQuery["id"], query: string])[] = [
  ["locks", ""],
  ["locks", "all=1&sort=-waiting"],
  ["locks", "filter=lock-1"],
  ["resources", "filter=waiting:>0&sort=-waiting"],
  ["queues", ""],
  ["runs", "filter=since:>1m"],
  ["hosts", ""],
  ["history", ""],
  ["problems", ""],
];

/** Renders everything that depends on what is kept. */
async function renderPages(lists: SiteLists, snapshot: Snapshot, wall: WallTime) {
  const state = { snapshot, isRead: true, awaySince: undefined, health: undefined };
  const pages: Page[] = [await buildOverviewPage(lists, state, wall, "")];
  for (const [id, query] of LISTS)
    pages.push(await lists.buildPage({ id, query: new URLSearchParams(query) }, state, wall));
  return {
    pages: pages.map(({ blocks }) => blocks.map(({ before, items }) => [before, ...items])),
    problems: findProblems(snapshot, wall).sort((a, b) => (buildProblemId(a) < buildProblemId(b) ? -1 : 1)),
  };
}

const change = record({
  does: constantFrom(
    "put",
    "put",
    "hold",
    "hold",
    "break",
    "delete",
    "end",
    "see",
    "configure",
    "drain",
    "wait",
  ),
  queue: constantFrom("lock lock-1", "lock lock-2", "lock x", "lock y", "resource db"),
  run: constantFrom("a", "b", "c"),
  at: integer({ min: 0, max: 20 }),
  renders: constantFrom(true, false),
});

it("what is shown of states that follow each other is what is shown of each one alone", async () => {
  await assert(
    asyncProperty(array(change, { maxLength: 25 }), async (changes) => {
      const follower = new SnapshotFollower();
      const lists = new SiteLists(keys, "");
      const shown: { alone: Snapshot; wall: WallTime; pages: unknown }[] = [];
      let wall = NOW;
      for (const { does, queue, run, at, renders } of changes) {
        const name = queue.slice(queue.indexOf(" ") + 1);
        const enqueuedAt = wall - at * MINUTE_MS;
        const granted = { state: "held", grantedAt: enqueuedAt + MINUTE_MS / 2 } as const;
        const ticket = createTicketKey(queue, run, at, { enqueuedAt, ...(does === "hold" && granted) });
        if (does === "put" || does === "hold") follower.put(ticket);
        if (does === "break") follower.put(createKeyValue(ticket.key));
        if (does === "delete") follower.delete(ticket.key);
        if (does === "end") follower.put(createHistoryKey(name, { exit: at % 2, held: at, endedAt: wall }));
        if (does === "see") follower.put(createHostKey(`${run}.example.com`, { seenAt: enqueuedAt }));
        if (does === "configure") follower.put(createResourceKey("db", { total: String(at) }));
        if (does === "drain") follower.put(createDrainKey("lock", name, { until: wall + at * MINUTE_MS }));
        if (does === "wait") wall += at * MINUTE_MS;
        if (!renders) continue;
        const pages = await renderPages(lists, follower.snapshot, wall);
        shown.push({ alone: follower.buildAnew(), wall, pages });
      }
      for (const { alone, wall, pages } of shown)
        expect(pages).toEqual(await renderPages(new SiteLists(keys, ""), alone, wall));
    }),
    { numRuns: pickCount(30, 300) },
  );
});
