/** A program that is too old for the keys under its prefix: it writes nothing, and says why. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const REFUSAL = /may only be written with schema version 2, but signalbox \S+ has schema version 1; upgrade/;

const requireVersion = (namespace: TestNamespace, version: string) =>
  namespace.put(namespace.keys.schema(version), '{"v":1}');

describe.concurrent("where a later schema version is required,", () => {
  test.each(TRANSPORTS)("nothing is claimed, over %s", async (transport) => {
    const namespace = cluster.createNamespace({ transport });
    await requireVersion(namespace, "0002");
    const before = await namespace.listKeys();
    for (const options of [
      ["--lock", "x"],
      ["--lock", "x", "--wait"],
      ["--no-lock", "--lease", "db=1:2"],
    ]) {
      expect(await namespace.run(options, "echo started")).toExit(78, {
        stdout: "",
        stderr: REFUSAL,
      });
    }
    expect(await namespace.listKeys()).toEqual(before);
  });

  test("operators change nothing", async ({ namespace }) => {
    await requireVersion(namespace, "0002");
    const before = await namespace.listKeys();
    for (const args of [
      ["drain", "all", "--yes"],
      ["group", "set", "web", "web1", "--yes"],
      ["resource", "set", "db", "10", "--yes"],
      ["schedule", "add", "a", "* * * * *", "--yes", "--", "true"],
    ]) {
      const { code, stderr } = await namespace.execute(args);
      expect({ args, code, stderr }).toEqual({ args, code: 78, stderr: expect.stringMatching(REFUSAL) });
    }
    expect(await namespace.listKeys()).toEqual(before);
  });

  test("a worker ends at once", async ({ namespace }) => {
    await requireVersion(namespace, "0002");
    expect(await namespace.execute("worker")).toExit(78, { stderr: REFUSAL });
  });

  test("lists warn once, and init and doctor fail", async ({ namespace }) => {
    await requireVersion(namespace, "0002");
    for (const words of ["ls locks", "ls groups", "ls schedules", "ls history", "export"]) {
      const list = await namespace.execute(words.split(" "));
      expect({ words, code: list.code }).toEqual({ words, code: 0 });
      expect(list.stderr.match(/may be incomplete: .* schema version 2/g), words).toHaveLength(1);
      expect(list.stdout).not.toContain("schema version");
    }
    for (const command of ["init", "doctor"]) {
      const { code, stdout } = await namespace.execute([command]);
      expect(stdout).toMatch(/^FAILURE +schema version: keys under .* schema version 2/m);
      expect(code).toBe(command === "init" ? 78 : 2);
    }
  });
});

test("the own version, or none, changes nothing", async ({ namespace }) => {
  await requireVersion(namespace, "0001");
  expect(await namespace.run("--lock x")).toExit(0, { stderr: "" });
  expect(await namespace.execute("ls history")).toExit(0, { stderr: "" });
  expect(await namespace.execute("init")).toExit(0, { stdout: /^ok +schema version: 1,/m });
});

test("a version that is required later: the run that holds ends as usual, the waiting run leaves", async ({
  namespace,
}) => {
  const holder = await namespace.jobs.startHolder("a", "--lock x");
  const waiter = await namespace.jobs.startWaiter("b", "--lock x --wait");
  await requireVersion(namespace, "0002");
  expect(await waiter.ended).toExit(78, { stderr: REFUSAL });
  expect(await namespace.listTickets()).toMatchObject([{ ticket: { label: "a", state: "held" } }]);
  expect(await holder.finish()).toExit(0, { stderr: "" });
  expect(await namespace.listTickets()).toEqual([]);
});
