import { describe, expect, test } from "vitest";
import {
  createAttempt,
  createPorts,
  createView,
  REQUESTS,
  type RequestName,
  type Situation,
  WALL,
} from "../../../../fixtures/protocol/situations.ts";
import { decideStep, getOwnRevisions } from "../../../../src/core/run/decide.ts";
import type { ClaimStep } from "../../../../src/core/run/step.ts";

async function decide(name: RequestName, situation: Situation, before: Situation = {}) {
  const attempt = await createAttempt(createPorts(), REQUESTS[name]);
  const known = getOwnRevisions(attempt, createView(before));
  if (known === "broken") throw new Error("the last read is not one claim");
  return formatStep(decideStep(attempt, known, createView(situation), WALL));
}

function testSteps(title: string, cases: [string, RequestName, Situation, string][]) {
  test.each(cases)(`${title}: %s`, async (_, request, situation, expected) => {
    expect(await decide(request, situation)).toBe(expected);
  });
}

/** The kind of a step, and what it is about: `leave busy`, `announce a`, `sweep 0`. */
function formatStep(step: ClaimStep) {
  if (step.kind === "leave") return `leave ${step.refusal.kind}`;
  if (step.kind !== "announce" && step.kind !== "sweep" && step.kind !== "grant") return step.kind;
  return `${step.kind} ${step.entries.map(({ key }) => key.split("/").slice(-2, -1)).join(" ")}`;
}

testSteps("without a ticket of its own", [
  ["a free lock", "lock", {}, "claim"],
  ["a held lock", "lock", { ahead: "held" }, "leave busy"],
  ["a held lock, to queue for", "lock, queue", { ahead: "held" }, "claim"],
  ["a grace that has passed", "lock", { ahead: "over" }, "sweep a"],
  ["a grace that has passed, to queue for", "lock, queue", { ahead: "over" }, "sweep a"],
  ["a grace that has not passed", "lock", { ahead: "grace" }, "leave busy"],
  ["a passed grace, and a waiter behind it", "lock", { ahead: "over waiting" }, "leave busy"],
  ["a ticket that cannot be parsed", "lock", { ahead: "broken" }, "leave busy"],
  ["units of a resource in use", "lease", { queue: "near held:4" }, "claim"],
  ["a free lock and a lease", "both", {}, "claim"],
  ["a member of the group", "lock, group", { members: "web1.example.com" }, "claim"],
  ["a host outside of the group", "lock, group", { members: "web2.example.com" }, "leave outside"],
]);

testSteps("with tickets of its own", [
  ["first in the lock's queue", "lock, queue", { own: "a:waiting" }, "grant a"],
  ["behind a holder of the lock", "lock, queue", { own: "a:waiting", ahead: "held" }, "wait"],
  ["behind a waiter for the lock", "lock, queue", { own: "a:waiting", ahead: "waiting" }, "wait"],
  ["behind a ticket that cannot be parsed", "lock, queue", { own: "a:waiting", ahead: "broken" }, "wait"],
  ["behind a grace that has passed", "lock, queue", { own: "a:waiting", ahead: "over" }, "sweep a"],
  ["behind a grace that has not passed", "lock, queue", { own: "a:waiting", ahead: "grace" }, "wait"],
  ["the answer of the grant was lost", "lock", { own: "a:held" }, "granted"],
  ["the answer of the whole grant was lost", "both", { own: "a:held db:held" }, "granted"],
  ["the lock is free, the lease not asked for", "both, queue", { own: "a:waiting" }, "join"],
  ["the lock is taken, the lease not asked for", "both, queue", { own: "a:waiting", ahead: "held" }, "wait"],
  ["all is free", "both", { own: "a:waiting db:waiting", queue: "whole *" }, "grant a db"],
  [
    "all is free, in the queues",
    "both, queue",
    { own: "a:admitted db:waiting@6", queue: "whole *" },
    "grant a db",
  ],
  [
    "units are missing: the lock is announced",
    "both",
    { own: "a:waiting db:waiting", queue: "whole held:3 *" },
    "announce a",
  ],
  [
    "units are missing, the lock is announced",
    "both",
    { own: "a:admitted db:waiting", queue: "whole held:3 *" },
    "wait",
  ],
  ["a drain that has ended", "lock, queue", { own: "a:waiting", drains: "ended" }, "grant a"],
]);

testSteps("a lock that others may share", [
  ["is free", "shared", {}, "claim"],
  ["others share it", "shared", { ahead: "+held +held" }, "claim"],
  ["others wait to share it", "shared", { ahead: "+held +waiting" }, "claim"],
  ["one holds it alone", "shared", { ahead: "held" }, "leave busy"],
  ["one waits for it alone", "shared", { ahead: "+held waiting" }, "leave busy"],
  ["one waits for it alone, to queue for", "shared, queue", { ahead: "+held waiting" }, "claim"],
  ["others share it, this run does not", "lock", { ahead: "+held" }, "leave busy"],
  ["a grace that has passed, before others", "shared", { ahead: "over +waiting" }, "sweep a"],
  ["behind a grace of one that shared it", "shared, queue", { own: "a:+waiting", ahead: "+over" }, "sweep a"],
  ["first in its queue", "shared, queue", { own: "a:+waiting" }, "grant a"],
  ["behind holders that share it", "shared, queue", { own: "a:+waiting", ahead: "+held" }, "grant a"],
  ["behind waiters that share it", "shared, queue", { own: "a:+waiting", ahead: "+waiting" }, "grant a"],
  ["behind one that waits", "shared, queue", { own: "a:+waiting", ahead: "+held waiting +waiting" }, "wait"],
  ["behind a grace that has passed", "shared, queue", { own: "a:+waiting", ahead: "over +held" }, "sweep a"],
  [
    "behind many holders",
    "shared, queue",
    { own: "a:+waiting", ahead: "+held", hasMoreAhead: true },
    "grant a",
  ],
  [
    "behind many waiters",
    "shared, queue",
    { own: "a:+waiting", ahead: "+waiting", hasMoreAhead: true },
    "wait",
  ],
  [
    "behind many waiters; one of them waits only elsewhere",
    "shared, queue",
    { own: "a:+waiting", ahead: "+admitted +waiting", hasMoreAhead: true },
    "grant a",
  ],
  [
    "behind many waiters, at once",
    "shared",
    { own: "a:+waiting", ahead: "+waiting", hasMoreAhead: true },
    "closer",
  ],
  ["one was faster", "shared", { own: "a:+waiting", ahead: "+held waiting" }, "leave busy"],
  ["none was faster", "shared", { own: "a:+waiting", ahead: "+held" }, "grant a"],
  ["none was faster, the lease not asked for", "shared, both", { own: "a:+waiting", ahead: "+held" }, "join"],
  [
    "the lock before the lease",
    "shared, both",
    { own: "a:+admitted db:waiting@6", ahead: "+held", queue: "whole *" },
    "grant a db",
  ],
  ["this run does not share it", "lock, queue", { own: "a:waiting", ahead: "+held" }, "wait"],
]);

testSteps("two locks", [
  ["are free", "locks", { aheadOfB: "" }, "claim"],
  ["one is held", "locks", { aheadOfB: "held" }, "leave busy"],
  ["one is held, to queue for", "locks, queue", { aheadOfB: "held" }, "claim"],
  ["the graces of both have passed", "locks", { ahead: "over", aheadOfB: "over" }, "sweep a b"],
  ["first in both queues", "locks, queue", { own: "a:waiting b:waiting", aheadOfB: "" }, "grant a b"],
  ["one is taken", "locks, queue", { own: "a:waiting b:waiting", aheadOfB: "held" }, "announce a"],
  [
    "one is taken, the other announced",
    "locks, queue",
    { own: "a:admitted b:waiting", aheadOfB: "held" },
    "wait",
  ],
  ["both are taken", "locks, queue", { own: "a:waiting b:waiting", ahead: "held", aheadOfB: "held" }, "wait"],
  ["a grace has passed", "locks, queue", { own: "a:waiting b:waiting", aheadOfB: "over" }, "sweep b"],
  ["one ticket is missing", "locks, queue", { own: "a:waiting", aheadOfB: "" }, "leave gone"],
  ["not of one claim", "locks, queue", { own: "a:waiting@5 b:waiting@6", aheadOfB: "" }, "leave gone"],
  [
    "one is drained",
    "locks, queue",
    { own: "a:waiting b:waiting", aheadOfB: "", drains: "lock:b" },
    "leave drained",
  ],
  ["all is drained", "locks, queue", { own: "a:waiting b:waiting", aheadOfB: "", drains: "all" }, "wait"],
  ["then the lease", "locks, lease", { own: "a:waiting b:waiting", aheadOfB: "" }, "join"],
  ["the answer of the grant was lost", "locks", { own: "a:held b:held", aheadOfB: "" }, "granted"],
]);

// The own ticket asks for 2 of 4 units.
test.each<[string, string]>([
  ["whole *", "grant db"],
  ["whole held:2 *", "grant db"],
  ["whole held:3 *", "wait"],
  ["whole waiting:1 *", "grant db"],
  ["whole held:1 waiting:2 *", "wait"],
  ["whole * held:2", "grant db"],
  ["whole * held:3", "wait"],
  ["whole * waiting:4", "grant db"],
  ["whole held:3 broken:0 *", "wait"],
  ["head held:3 *", "wait"],
  ["head held:2 *", "closer"],
  ["head *", "closer"],
  ["near waiting:1 *", "wait"],
  ["near held:4 *", "closer"],
  ["near admitted:1 *", "closer"],
  ["near *", "closer"],
])("in the queue of a resource, as much of it as was read: %s: %s", async (queue, expected) => {
  expect(await decide("lease", { own: "db:waiting", queue })).toBe(expected);
});

test.each<[string, RequestName, string, string, string]>([
  // drains, request, own, others, step
  ["lock:a", "lock", "", "", "leave drained"],
  ["lock:a", "lock, queue", "", "", "leave drained"],
  ["lock:a", "lock, queue", "a:waiting", "held", "wait"],
  ["lock:b", "lock, queue", "a:waiting", "held", "wait"],
  ["lock:b", "lock", "", "", "claim"],
  ["ended", "lock", "", "", "claim"],
  ["all", "lock, queue", "a:waiting", "", "wait"],
  ["all lock:a", "lock, queue", "a:waiting", "", "wait"],
  ["host:web1.example.com", "lock, queue", "a:waiting", "", "leave drained"],
  ["all host:web1.example.com", "lock, queue", "a:waiting", "", "leave drained"],
  ["host:web2.example.com", "lock, queue", "a:waiting", "", "grant a"],
  ["resource:db", "lease", "db:waiting", "", "wait"],
  ["resource:db", "both, queue", "a:waiting", "", "leave drained"],
  ["lock:a", "both, queue", "a:waiting db:waiting@6", "", "leave drained"],
  ["all", "both, queue", "a:waiting db:waiting@6", "", "wait"],
  ["all", "both", "a:waiting db:waiting", "", "leave drained"],
  ["all", "lock, queue", "a:held", "", "granted"],
  ["all", "lock, queue", "a:reset", "", "leave evicted"],
])("under drains: %s, %s, %j, ahead %j: %s", async (drains, request, own, ahead, expected) => {
  expect(await decide(request, { own, ahead, drains })).toBe(expected);
});

describe("own tickets that are no claim any more", () => {
  test.each<[string, RequestName, string, string, string]>([
    // case, request, own at the last read, own now, step
    ["all are there", "both", "a:held db:held", "a:held db:held", "granted"],
    ["the lock's ticket was removed", "lock, queue", "a:waiting", "", "leave gone"],
    ["it was removed and put again", "lock, queue", "a:waiting@5", "a:waiting@9", "leave gone"],
    ["it cannot be parsed", "lock, queue", "a:waiting", "a:broken", "leave gone"],
    ["it was reset", "lock, queue", "a:waiting", "a:reset", "leave evicted"],
    [
      "the resource's ticket was reset",
      "both",
      "a:waiting db:waiting",
      "a:waiting db:reset",
      "leave evicted",
    ],
    ["the resource's ticket was removed", "both, queue", "a:waiting db:waiting@6", "a:waiting", "leave gone"],
    ["only the lock's was put", "both", "", "a:waiting", "leave gone"],
    [
      "the lock's is held, the resource's was removed before any was read",
      "both, queue",
      "",
      "a:held",
      "leave gone",
    ],
    ["only the resource's was put", "both", "", "db:waiting", "leave gone"],
    ["only the resource's was put, in queues", "both, queue", "", "db:waiting", "leave gone"],
    ["put in two claims", "both", "", "a:waiting@5 db:waiting@6", "leave gone"],
  ])("%s: %s, %j then %j: %s", async (_, request, before, own, expected) => {
    expect(await decide(request, { own, queue: "whole *" }, { own: before })).toBe(expected);
  });

  test("two resources of one claim share a revision", async () => {
    const leases = ["db", "mem"].map((resource) => ({ resource, count: 2, total: 4 }));
    const attempt = await createAttempt(createPorts(), { ...REQUESTS.lease, leases });
    expect(getOwnRevisions(attempt, createView({ own: "db:waiting@5 mem:waiting@5" }))).toEqual({
      lock: undefined,
      resources: 5n,
    });
    for (const own of ["db:waiting@5 mem:waiting@6", "db:waiting@5"])
      expect(getOwnRevisions(attempt, createView({ own }))).toBe("broken");
  });
});
