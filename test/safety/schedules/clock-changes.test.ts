/** Times on the command line that the clocks of the schedule's zone skip or show twice. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const { test } = TestCluster.startForFile();

test.concurrent("a backfill of a repeated hour has all its occurrences", async ({ namespace }) => {
  for (const [zone, from, to] of [
    ["Europe/Berlin", "2025-10-26T02:00", "2025-10-26T03:00"],
    ["America/New_York", "2025-11-02T01:00", "2025-11-02T02:00"],
  ] as const) {
    await namespace.expectDone("schedule add q", "*/15 * * * *", "--timezone", zone, "--", "true");
    const done = await namespace.execute(["schedule", "backfill", "q", "--from", from, "--to", to]);
    expect(done).toExit(0, { stdout: "backfill of 9 occurrences" });
    expect(done.stderr).toContain(`note: ${from} comes twice: the clocks of ${zone} go from`);
    await namespace.expectDone("schedule delete q --yes");
  }
});

test.concurrent("a skipped time is the end of the gap, in the result for programs too", async ({
  namespace,
}) => {
  const words = ["schedule", "at", "2027-03-14T02:30", "--timezone", "America/New_York", "--id", "once"];
  const done = await namespace.execute([...words, "--json", "--", "true"]);
  expect(done).toExit(0);
  const { notes, changes } = JSON.parse(done.stdout);
  expect(changes[0].definition.cron).toBe("@at 2027-03-14T07:00:00.000Z");
  expect(notes).toEqual([expect.stringMatching(/02:30 does not exist.*taken for 2027-03-14T03:00-04:00/)]);
});

test.concurrent("a rule keeps the time of the day that its first day skips", async ({ namespace }) => {
  const words = ["--rrule", "FREQ=DAILY", "--start", "2027-03-28T02:30", "--timezone", "Europe/Berlin"];
  const done = await namespace.execute(["schedule", "next", ...words, "--count", "2", "--json"]);
  expect(done).toExit(0, { stderr: "note: 2027-03-28T02:30 does not exist" });
  expect(JSON.parse(done.stdout).rows.map(({ at }: { at: number }) => new Date(at).toISOString())).toEqual([
    "2027-03-28T01:00:00.000Z",
    "2027-03-29T00:30:00.000Z",
  ]);
});
