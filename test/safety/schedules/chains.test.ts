/** Chains, one-shot runs and runs with input, from the commands to the commands that workers start. */
import { expect } from "vitest";
import { readDue } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { readOutcomes, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { type EndCase, expectEnds } from "../../../fixtures/schedule/expect-ends.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { parseOutcomes } from "../../../src/schedule/state/outcome.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Runs `signalbox schedule …`. */
async function schedule(namespace: TestNamespace, ...args: string[]) {
  return await namespace.execute(["schedule", ...args]);
}

/** Adds a schedule, and others that follow it. @returns the ids of those */
async function addFollowers(namespace: TestNamespace, count: number, follower: object) {
  await namespace.expectDone("schedule add extract @manual", ...shell("true"));
  const ids = Array.from({ length: count }, (_, n) => `f${n}`);
  const definition = { cron: "@manual", timezone: "UTC", after: ["extract"], ...follower };
  const site = { version: 1, schedules: Object.fromEntries(ids.map((id) => [id, definition])) };
  const file = cluster.createPath(JSON.stringify(site));
  await namespace.expectDone(`apply ${file} --yes`);
  return ids;
}

const shell = (script: string) => ["--", "sh", "-c", script];

test.concurrent("a schedule runs after another, with what that one was given", async ({ namespace }) => {
  await namespace.expectDone("schedule add extract @manual", ...shell("cat; echo $TABLE"));
  const added = await namespace.expectDone(
    "schedule add load --after extract",
    ...shell("cat; echo $SIGNALBOX_AFTER $SIGNALBOX_AFTER_RESULT"),
  );
  expect(added).toContain("schedule extract: followed by load");
  await namespace.expectDone("schedule add report --after load", ...shell("echo reported"));
  await namespace.expectDone("schedule add clean --after load --on failure", ...shell("echo never"));
  namespace.start("worker");
  await namespace.expectDone("schedule trigger extract --data '{\"day\":3}' --env TABLE=t1");
  const [extract] = await waitForOutcomes(namespace, "extract");
  expect(extract).toMatchObject({ result: "ok", tail: expect.stringMatching(/"data":\{"day":3\}.*\nt1/s) });
  const [load] = await waitForOutcomes(namespace, "load");
  expect(load).toMatchObject({
    scheduled: extract?.scheduled,
    tail: expect.stringMatching(/"data":\{"day":3\},"after":\[\{"id":"extract".*\nextract ok/s),
  });
  const [report] = await waitForOutcomes(namespace, "report");
  expect(report).toMatchObject({ result: "ok", tail: "reported", scheduled: extract?.scheduled });
  expect(await readOutcomes(namespace, "clean")).toEqual([]);
  expect(await namespace.expectDone("schedule graph")).toBe(
    "extract: ok\n`- load (on success): ok\n   |- clean (on failure)\n   `- report (on success): ok\n",
  );
});

test.concurrent("a failure counts when it is given up, and a join waits for all", async ({ namespace }) => {
  const failing = ["--retries", "1", "--backoff", "50ms", ...shell("exit 1")];
  await namespace.expectDone("schedule add a @manual", ...failing);
  await namespace.expectDone("schedule add b @manual", ...shell("true"));
  await namespace.expectDone("schedule add alarm --after a --on failure", ...shell("echo alarm"));
  await namespace.expectDone(
    "schedule add both --after b,a --on end",
    ...shell("echo $SIGNALBOX_AFTER_RESULT"),
  );
  namespace.start("worker");
  await namespace.expectDone("schedule trigger b");
  await waitForOutcomes(namespace, "b");
  expect((await readDue(namespace, "both"))?.arrived).toMatchObject([{ id: "b", result: "ok" }]);
  await namespace.expectDone("schedule trigger a");
  expect(await waitForOutcomes(namespace, "both")).toMatchObject([{ tail: "ok,failed" }]);
  expect(await waitForOutcomes(namespace, "alarm")).toMatchObject([{ tail: "alarm" }]);
  expect(await readOutcomes(namespace, "a")).toHaveLength(2);
  expect(await readOutcomes(namespace, "alarm")).toHaveLength(1);
});

test.concurrent("something runs once, at a time, and a dead letter keeps its input", async ({
  namespace,
}) => {
  await namespace.expectDone("schedule at +0s --id once --deadline 1h", ...shell("echo $N; exit $N"));
  namespace.start("worker");
  expect(await waitForOutcomes(namespace, "once")).toMatchObject([{ result: "ok" }]);
  await namespace.expectDone("schedule trigger once --env N=3");
  await waitForOutcomes(namespace, "once", 2);
  const readDead = async () => {
    return parseOutcomes(await namespace.readValue(namespace.keys.outcomes("once"))).dead;
  };
  const [dead] = await waitUntil("dead letter", async () => {
    const letters = await readDead();
    return letters.length > 0 && letters;
  });
  expect(dead).toMatchObject({ code: 3, env: { N: "3" } });
  await namespace.expectDone("schedule trigger once --dead", new Date(dead?.scheduled ?? 0).toISOString());
  expect(await waitForOutcomes(namespace, "once", 3)).toMatchObject([{ code: 3, tail: "3" }, {}, {}]);
});

test.concurrent("a schedule has more followers than one transaction writes, and each runs once", async ({
  namespace,
}) => {
  const ids = await addFollowers(namespace, 45, { command: ["true"] });
  for (let worker = 0; worker < 2; worker += 1) namespace.start("worker");
  await namespace.expectDone("schedule trigger extract");
  const [extract] = await waitForOutcomes(namespace, "extract");
  for (const id of ids)
    expect(await waitForOutcomes(namespace, id)).toMatchObject([
      { result: "ok", scheduled: extract?.scheduled },
    ]);
  const due = await readDue(namespace, "extract");
  expect(due).toBeDefined();
  expect(due).not.toHaveProperty("handed");
});

test.concurrent("followers get an end whose runs together are larger than a request of etcd", async ({
  namespace,
}) => {
  const ids = await addFollowers(namespace, 25, { type: "unhandled", catchup: "all" });
  namespace.start("worker");
  const data = JSON.stringify("x".repeat(8_000));
  for (let run = 1; run <= 8; run += 1) {
    await namespace.expectDone("schedule trigger extract --data", data);
    await waitForOutcomes(namespace, "extract", run);
  }
  const readWaiting = async (id: string) => (await readDue(namespace, id))?.open.length;
  await waitUntil("all ends at all followers", async () => {
    const waiting = await Promise.all(ids.map(readWaiting));
    return waiting.every((count) => count === 8);
  });
});

test.concurrent("a chain of any length runs to its end, in one trace, and cannot become a loop", async ({
  namespace,
}) => {
  const count = 30;
  const print = ["sh", "-c", 'echo "$TRACEPARENT"'];
  const site = {
    version: 1,
    schedules: Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `c${n}`,
        { cron: "@manual", timezone: "UTC", ...(n > 0 && { after: [`c${n - 1}`] }), command: print },
      ]),
    ),
  };
  const file = cluster.createPath(JSON.stringify(site));
  await namespace.expectDone(`apply ${file} --yes`);
  expect(await schedule(namespace, "edit", "c0", "--after", `c${count - 1}`)).toExit(78, {
    stderr: "that is a cycle, c0 -> c29 -> c28 -> c27 -> c26 -> 21 more -> c4 -> c3",
  });
  namespace.start("worker");
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const env = { TRACEPARENT: `00-${trace}-b7ad6b7169203331-01` };
  expect(await namespace.execute("schedule trigger c0", { env })).toExit(0);
  const tails = new Set<string | undefined>();
  for (let n = 0; n < count; n += 1) {
    const [last] = await waitForOutcomes(namespace, `c${n}`);
    expect(last).toMatchObject({
      result: "ok",
      tail: expect.stringMatching(`^00-${trace}-[0-9a-f]{16}-01$`),
    });
    tails.add(last?.tail);
  }
  expect(tails.size).toBe(count);
});

test.concurrent("mistakes are refused with their reasons", async ({ namespace }) => {
  await namespace.expectDone("schedule add a @manual --tag team=x --tag nightly", ...shell("true"));
  await namespace.expectDone("schedule add b --after a", ...shell("true"));
  await namespace.expectDone("resource set db 4");
  const cases: EndCase[] = [
    [["add", "c", ...shell("true")], 64, /CRON is missing: .* --after KEY/],
    [["add", "c", "--after", "z", ...shell("true")], 78, "there is none; add it first"],
    ["edit a --after b", 78, "that is a cycle, a -> b -> a"],
    ["delete a --yes", 64, 'schedule "b" follows it'],
    ["add c x --after a --on never", 64, "--on must be one of success, failure, end"],
    [["at", "soon", ...shell("true")], 64, 'WHEN: "soon" is not an instant'],
    [["at", "2020-01-01", ...shell("true")], 64, /2020-01-01T00:00:00.000Z has passed/],
    ["at +1h", 64, "COMMAND or TYPE is missing"],
    ["trigger a --data {", 64, "not JSON"],
    [["trigger", "a", "--data", JSON.stringify("x".repeat(9_000))], 64, "at most 8192 characters"],
    [["add", "c", "@manual", "--tag", "a b", ...shell("true")], 64, /--tag must be a word .*; got "a b"/],
    [["add", "c", "@manual", "--tag", "", ...shell("true")], 64, "--tag must not be empty; leave it out"],
    [["at", "+1h", "--lease", "", ...shell("true")], 64, "--lease must not be empty; leave it out"],
    [["add", "c", "@manual", "--lease", "db=9", ...shell("true")], 64, /9 units of resource "db" .* only 4/],
    ["edit a --lease db=9", 64, /9 units of resource "db" .* only 4/],
    ["graph z", 1, 'no schedule "z"'],
  ];
  await expectEnds(namespace, cases, "schedule");
  const listed = await namespace.expectDone("ls schedules tag:nightly tag:team=x --json");
  expect(JSON.parse(listed).rows).toMatchObject([{ schedule: "a" }]);
  expect((await namespace.executeJson("ls schedules tag:team")).rows).toMatchObject([{ schedule: "a" }]);
});
