/** The counts of runs and hosts follow the changes of queues. */

import { array, assert, constantFrom, property, record } from "fast-check";
import { expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createKeyValue,
  createSnapshot,
  createTicketKey,
  held,
  toRunId,
} from "../../../fixtures/state/sample-snapshots.ts";
import { SnapshotFollower } from "../../../fixtures/state/snapshot-follower.ts";
import { isHolding } from "../../../src/core/protocol/admission.ts";
import { countRuns, listTicketHosts, type Snapshot } from "../../../src/site/state/snapshot.ts";

/** Counts the runs and hosts of a snapshot in one pass, without knowledge of another snapshot. */
function countAnew({ queues }: Snapshot) {
  const all = [...queues.values()].flatMap(({ entries }) => entries);
  const runs = [...Map.groupBy(all, ({ run }) => run).values()].filter((own) =>
    own.some((one) => one.ticket),
  );
  return {
    held: runs.filter((own) => own.every(isHolding)).length,
    waiting: runs.filter((own) => !own.every(isHolding)).length,
    hosts: [...new Set(all.flatMap(({ ticket }) => ticket?.host ?? []))].sort(),
  };
}

it("counts as a pass over all entries does, whatever changes, and whichever snapshot was counted before", () => {
  const change = record({
    does: constantFrom("put", "hold", "break", "delete", "count", "count another"),
    queue: constantFrom("lock x", "lock y", "resource db"),
    run: constantFrom("a", "b", "c"),
    host: constantFrom("web1", "web2"),
  });
  const other = createSnapshot([createTicketKey("lock x", "a", 1, { ...held, host: "other" })]);
  assert(
    property(array(change, { maxLength: 30 }), (changes) => {
      const follower = new SnapshotFollower();
      const check = (snapshot: Snapshot) => {
        const found = { ...countRuns(snapshot), hosts: [...listTicketHosts(snapshot)].sort() };
        expect(found).toEqual(countAnew(snapshot));
      };
      for (const { does, queue, run, host } of changes) {
        const kv = createTicketKey(queue, run, 1, { ...(does === "hold" && held), host });
        if (does === "put" || does === "hold") follower.put(kv);
        else if (does === "break") follower.put(createKeyValue(kv.key, "{"));
        else if (does === "delete") follower.delete(kv.key);
        else check(does === "count" ? follower.snapshot : other);
      }
      check(follower.snapshot);
    }),
  );
});

it("gives the same snapshot until something changes", () => {
  const follower = new SnapshotFollower(createTicketKey("lock x", "a", 1, held));
  const { snapshot } = follower;
  expect(follower.snapshot).toBe(snapshot);
  follower.delete(keys.lock("x", toRunId("a")));
  expect(follower.snapshot).not.toBe(snapshot);
  expect(follower.snapshot.queues.size).toBe(0);
});
