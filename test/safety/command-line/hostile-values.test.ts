/** Keys and values that were written by hand: they block if they must, are shown as they are, and cause no crash. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const OSC_52 = "\x1b]52;c;cm0gLXJmIH4K\x07";
const RUN_ID = "abcdefghijklmnop";

/** What a malformed ticket may hold. */
const MALFORMED: [what: string, value: string][] = [
  ["nothing", ""],
  ["half of JSON", '{"v":1,'],
  ["another thing", "[1,2,3]"],
  ["a ticket of version 99", JSON.stringify({ v: 99, run: RUN_ID })],
  ["a negative count", JSON.stringify(buildTicket({ count: -1 }))],
  ["a deep nest", "[".repeat(50_000)],
];

function buildTicket(more: object = {}) {
  return {
    v: 1,
    run: RUN_ID,
    host: "web1",
    pid: 7,
    user: "root",
    count: 1,
    total: 2,
    state: "held",
    command: "job",
    enqueuedAt: Date.now() - 5_000,
    grantedAt: Date.now() - 4_000,
    ...more,
  };
}

async function listRows(namespace: TestNamespace) {
  const { code, stdout, stderr } = await namespace.execute("ls");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout, "what a terminal is shown").not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  return stdout.split("\n").slice(1, -1);
}

describe.concurrent("tickets put by hand", () => {
  test.each(MALFORMED)("%s: it blocks, is shown as malformed, and can be deleted", async (_, value) => {
    const namespace = cluster.createNamespace();
    const keys = [namespace.keys.lock("job", RUN_ID), namespace.keys.resource("db", RUN_ID)];
    for (const key of keys) await namespace.put(key, value);
    expect(await listRows(namespace)).toEqual([
      expect.stringMatching(/^lock +job +malformed/),
      expect.stringMatching(/^resource +db +malformed/),
    ]);
    const lease = ["--no-lock", "--lease", "db=1:2", "--lease-timeout", "300ms"];
    expect(await namespace.run("--lock job", "echo ran")).toExitSilently(75);
    expect(await namespace.run("--lock job --wait=300ms", "echo ran")).toExitSilently(75);
    expect(await namespace.run(lease, "echo ran")).toExitSilently(75);
    const preview = await namespace.run("--lock job --lease db=1:2 --dry-run");
    expect(preview).toExit(75, { stderr: "" });
    expect(preview.stdout).toMatch("malformed ticket");
    for (const key of keys) await namespace.delete(key);
    expect(await namespace.run(["--lock", "job", ...lease.slice(1)], "echo ran")).toExit(0);
  });

  test("an escape sequence in a host, a user, a label: shown without it, and a bidi control as an escape", async ({
    namespace,
  }) => {
    const nasty = `${OSC_52}web1\x9b31m\u202e`;
    await namespace.put(
      namespace.keys.lock("job", RUN_ID),
      JSON.stringify(buildTicket({ host: nasty, user: nasty, label: nasty, command: nasty })),
    );
    expect(await listRows(namespace)).toEqual([expect.stringMatching(/^lock +job +held +web1\\u\{202e\}:7/)]);
    const { stdout } = await namespace.execute("ls --json");
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(JSON.parse(stdout)).toMatchObject({
      version: 1,
      rows: [{ name: "job", holders: [{ host: nasty }] }],
    });
    const busy = await namespace.run("--lock job -v", "echo ran");
    expect(busy).toFail(75, /^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$/);
  });

  test("one without a valid run id: it blocks, and is shown as malformed too", async ({ namespace }) => {
    await namespace.put(`${namespace.prefix}locks/job/by hand`, "x");
    expect(await namespace.run("--lock job", "echo ran")).toExitSilently(75);
    expect(await listRows(namespace)).toEqual([expect.stringMatching(/^lock +job +malformed/)]);
  });
});

describe.concurrent("other keys put by hand", () => {
  test("under the prefix, with names that are none: they are in nobody's way, and init tells of them", async ({
    namespace,
  }) => {
    const strange = [
      "",
      "x",
      "locks/",
      "locks/a%2fb/c",
      "drains/",
      "drains/none/x",
      "config/groups/%",
      "\xff\xfe",
      OSC_52,
    ];
    for (const name of strange) await namespace.put(namespace.prefix + name, "{");
    expect(await namespace.run("--lock job --lease db=1:2", "echo ran")).toPrint("ran\n");
    const init = await namespace.execute("init");
    expect(init).toExit(0, { stderr: "" });
    expect(init.stdout).toMatch(/warning .*keys do not belong to signalbox/);
    expect(init.stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    for (const list of [["ls"], ["ls", "groups"], ["ls", "resources", "--all"]]) {
      const { code, stderr } = await namespace.execute(list);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/^((Nothing is held|No groups yet|No units are held).*\n)?$/),
      });
    }
  });

  test("1 MB of anything as a group or a total: said in a line", async ({ namespace }) => {
    const megabyte = "9".repeat(1_000_000);
    await namespace.put(namespace.keys.resourceConfig("db"), megabyte);
    await namespace.put(namespace.keys.group("web"), megabyte);
    expect(await namespace.run("--lease db=1", "echo ran")).toFail(78, /^signalbox: .{1,300}\n$/);
    const group = await namespace.run("-g web", "echo ran");
    expect(group, "a malformed group has no members").toExitSilently(75);
    for (const list of [
      ["ls", "groups"],
      ["ls", "resources", "--all"],
    ]) {
      const { code, stdout } = await namespace.execute(list);
      expect({ code, short: stdout.length < 2_000 }).toEqual({ code: 0, short: true });
    }
  });

  test("a drain that cannot be read still drains", async ({ namespace }) => {
    await namespace.put(namespace.keys.drain("lock", "job"), `{${OSC_52}`);
    expect(await namespace.run("--lock job -v", "echo ran")).toFail(75, 'drained by "unknown"');
  });

  test("a malformed history is replaced", async ({ namespace }) => {
    await namespace.put(namespace.keys.history("job"), "[".repeat(1_000));
    expect(await namespace.run("--lock job")).toExitSilently(0);
    const [history] = await namespace.listKeys();
    expect(JSON.parse(history?.value ?? "")).toMatchObject({ runs: [{ exit: 0 }] });
  });
});

test("a document without end is refused", async ({ namespace }) => {
  expect(await namespace.execute("diff /dev/zero")).toFail(
    74,
    "cannot read /dev/zero: it has more than 64 MiB",
  );
});
