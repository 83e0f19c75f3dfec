/** A worker with only the role of docs/etcd.md. */

import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SECURED } from "../../../fixtures/etcd/index.ts";
import {
  putDueSchedule,
  readOutcomes,
  WORKER_JOINED,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const COLLECTIONS = ["due/", "running/", "outcomes/", "workers/", "resources/", "hosts/"];

const cluster = TestCluster.startForFile({ auth: SECURED });

test("runs what is due, with leases, and remembers it", async () => {
  const namespace = await cluster.createUserNamespace("worker", COLLECTIONS);
  const worker = namespace.start("worker --accept-role-bypass");
  await worker.waitForOutput(WORKER_JOINED);
  await putDueSchedule(namespace, "job", { command: ["true"], leases: ["db=1:2"] });
  expect(await waitForOutcomes(namespace, "job")).toMatchObject([{ result: "ok", attempt: 1 }]);
  await putDueSchedule(namespace, "bad", { command: ["false"], pauseAfterFailures: 1 });
  await waitForOutcomes(namespace, "bad");
  expect((await namespace.execute("ls problems")).stdout, "it may pause what fails").toContain(
    "it has paused itself after 1 failure",
  );
  await putDueSchedule(namespace, "once", {
    command: ["true"],
    cron: "@at 2026-01-01T00:00Z",
    removeAfter: "end",
  });
  expect(await waitForOutcomes(namespace, "once"), "it may not remove it, so it keeps it").toMatchObject([
    { result: "ok", attempt: 1 },
  ]);
  // Not earlier: two ends in one transaction are nested in it, and this etcd checks no role there.
  await putDueSchedule(namespace, "next", { command: ["true"] });
  await waitForOutcomes(namespace, "next");
  await waitUntil("nothing runs", async () => {
    const { kvs } = await namespace.store.readRange(namespace.keys.runnings());
    return kvs.length === 0;
  });
  await worker.waitForOutput("may not remove");
  const { code, stdout } = await namespace.execute("schedule pause job --yes");
  expect({ code, stdout }, "but it may not say what runs").toEqual({ code: 77, stdout: "" });
  expect(await worker.end()).toExit(0);
});

test("without the right to say that it is there, it does not start, and names the reason", async () => {
  const namespace = await cluster.createUserNamespace("stranger", ["due/", "running/", "outcomes/"]);
  expect(await namespace.execute("worker --accept-role-bypass")).toExit(77, { stderr: "permission" });
});

test("a secret of some schedules is not for an author who may only write others", async () => {
  const author = await cluster.createUserNamespace("author", ["schedules/dev.", "due/dev.", "audit/"]);
  const namespace = await cluster.createUserNamespace("runner", COLLECTIONS);
  const [shop, dev] = [cluster.createPath("hunter2\n"), cluster.createPath("open\n")];
  const secrets = {
    shop: { file: shop, schedules: ["shop.*", "dev"] },
    dev: { file: dev, schedules: ["dev.*"] },
  };
  const file = cluster.createPath(JSON.stringify({ commands: true, secrets }));
  const worker = namespace.start(["worker", "--accept-role-bypass", "--handlers", file]);
  await worker.waitForOutput(WORKER_JOINED);
  const add = (name: string, secret: string) =>
    author.execute([
      ...`schedule add ${name} @manual --secret S=${secret} -- sh -c`.split(" "),
      'printf %s "$S" | wc -c',
    ]);
  expect(await add("shop.a", "shop")).toExit(77);
  const forged = ["dev.a", "dev.shop.a", "dev.*", "dev.%2E", "dev. shop.a"];
  for (const name of forged) {
    const secret = { command: ["printenv", "S"], secrets: { S: "shop" }, type: "shop.a" };
    await putDueSchedule(author, name, secret);
  }
  expect(await add("dev.own", "dev")).toExit(0);
  await author.expectDone("schedule trigger dev.own");
  expect(await waitForOutcomes(namespace, "dev.own")).toMatchObject([{ result: "ok", tail: "4" }]);
  for (const name of forged) expect(await readOutcomes(namespace, name), name).toEqual([]);
  await putDueSchedule(cluster.createNamespace({ prefix: SECURED.prefix }), "shop.b", {
    command: ["sh", "-c", 'printf %s "$S" | wc -c'],
    secrets: { S: "shop" },
  });
  expect(await waitForOutcomes(namespace, "shop.b")).toMatchObject([{ result: "ok", tail: "7" }]);
  const shown = await author.expectDone("show schedule dev.a");
  expect(shown).toMatch(/none is running that .*has its secrets/);
  expect(await author.expectDone("ls workers")).toMatch(
    /\(secret shop for shop\.\*\) \(secret shop for dev\)/,
  );
});
