/** `signalbox ls`, for users and programs. */

import { describe, expect } from "vitest";
import { putTickets, startSampleQueues, TERMINAL } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { LISTINGS } from "../../../src/cli/commands/see/ls/ls.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

describe.concurrent.each(TRANSPORTS)("over %s, ls", (transport) => {
  test("lists every view, for people and for programs, at a revision", async ({ onTestFinished }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    await startSampleQueues(namespace);
    expect((await namespace.execute("ls")).stdout).toMatch(
      /^KIND .*\nlock +x +held +\S+:\d+ .*\nresource +db +held +\S+:\d+ +\S+ +2\/3 +1 .*\n$/,
    );
    for (const view of LISTINGS) {
      const { code, stdout } = await namespace.execute(["ls", view, "--json", "--all"]);
      const document = JSON.parse(stdout);
      expect({ view, code, document }).toMatchObject({
        view,
        code: 0,
        document: { version: 1, view, prefix: namespace.keys.prefix, rows: expect.any(Array) },
      });
      expect(BigInt(document.revision)).toBeGreaterThan(0n);
      await namespace.expectDone("ls", view);
    }
  });

  test("lists many, whole queues over any page", async ({ onTestFinished }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    await putTickets(namespace, 300, 20);
    const { rows } = (await namespace.executeJson("ls locks")) as {
      rows: { holders: object[]; waiters: object[] }[];
    };
    expect(rows).toHaveLength(300);
    expect(rows.every(({ holders, waiters }) => holders.length === 1 && waiters.length === 20)).toBe(true);
    expect((await namespace.executeJson("ls queues --limit 7")).rows).toHaveLength(7);
  });
});

describe.concurrent("ls", () => {
  test("filters, sorts, chooses columns", async ({ namespace }) => {
    await putTickets(namespace, 3, 2);
    const listNames = async (...args: string[]) =>
      (await namespace.execute(["ls", "locks", "--columns", "name", ...args])).stdout
        .trimEnd()
        .split("\n")
        .slice(1);
    expect(await listNames("--sort", "-name")).toEqual(["lock 2", "lock 1", "lock 0"]);
    expect(await listNames("lock", "2")).toEqual(["lock 2"]);
    expect(await listNames("--state", "held", "--host", "web1", "--limit", "2")).toEqual([
      "lock 0",
      "lock 1",
    ]);
    expect(await listNames("state:free")).toEqual([]);
    expect(await namespace.execute("ls locks --columns nam")).toExit(64, {
      stderr: /unknown column "nam" of locks.*did you mean "name"/,
    });
  });

  test("shows drained locks, and with --all the free ones that are known", async ({ namespace }) => {
    await namespace.execute("run --lock known -- true");
    await namespace.execute("resource set db 5");
    await namespace.put(namespace.keys.drain("lock", "quiet"), '{"v":1,"by":"ann","at":1}');
    expect((await namespace.execute("ls")).stdout).toMatch(/^KIND.*\nlock +quiet +drained .*ann\n$/);
    expect((await namespace.execute("ls --all")).stdout).toMatch(
      /\nlock +known +free.*\nlock +quiet +drained.*\nresource +db +free .*0\/5/,
    );
  });

  test("says what to type where there is nothing, and what there is where a filter lets nothing pass", async ({
    namespace,
  }) => {
    expect(await namespace.execute("ls")).toExit(0, { stdout: "", stderr: "signalbox run --lock" });
    for (const view of LISTINGS) {
      const { stdout, stderr } = await namespace.execute(["ls", view]);
      // Hosts that only looked have left no word; nothing at all stands here.
      expect({ view, stdout, says: /: signalbox |signalbox ls|Try: /.test(stderr) }).toEqual({
        view,
        stdout: "",
        says: true,
      });
    }
    await putTickets(namespace, 1, 1);
    expect((await namespace.execute("ls queues --state admitted")).stderr).toBe(
      "No row matches the filter. Other rows have state:waiting.\n",
    );
  });

  test("filters by a flag, turns orders round, and lists columns", async ({ namespace }) => {
    await putTickets(namespace, 3, 1);
    const listNames = async (...args: string[]) =>
      (await namespace.execute(["ls", "--columns", "name", ...args])).stdout.trimEnd().split("\n").slice(1);
    expect(await listNames("--filter", "lock 2")).toEqual(["lock 2"]);
    expect(await listNames("--filter", "lock", "--filter", "2")).toEqual(["lock 2"]);
    expect(await listNames("--reverse")).toEqual(["lock 0", "lock 1", "lock 2"]); // all of one kind: by name then
    expect(await listNames("--sort", "name", "--reverse")).toEqual(["lock 2", "lock 1", "lock 0"]);
    expect(await listNames("--sort", "-name", "--reverse", "--limit", "1")).toEqual(["lock 0"]);
    expect((await namespace.executeJson("ls queues --reverse")).rows).toHaveLength(3);
    const help = await namespace.execute("ls runs --columns help", {
      endpoints: ["http://127.0.0.1:1"],
    });
    expect(help).toExit(0, { stdout: /^COLUMN .*\n[\s\S]*token +TOKEN .*default order\n/ });
    expect(await namespace.execute("ls 'lock 1'")).toExit(64);
  });

  test("needs no more memory for many than for few", async ({ namespace }) => {
    await putTickets(namespace, 2_000, 20, "x".repeat(1_000));
    const env = { NODE_OPTIONS: "--max-old-space-size=40" }; // MiB; the tickets alone are 60
    const ended = await namespace.execute("ls locks --json", { env });
    expect(ended).toExit(0);
    const { rows } = JSON.parse(ended.stdout) as { rows: { waiters: object[] }[] };
    expect([rows.length, rows.reduce((sum, { waiters }) => sum + waiters.length, 0)]).toEqual([
      2_000, 40_000,
    ]);
  });

  test("paints on a terminal, not where NO_COLOR is set, and leaves out what has no room", async ({
    namespace,
  }) => {
    await startSampleQueues(namespace);
    const colourful = await namespace.execute("ls", TERMINAL);
    expect(colourful.stdout).toContain("\x1b[32m● held");
    const plain = await namespace.execute("ls", { ...TERMINAL, env: { NO_COLOR: "1", LC_ALL: "C" } });
    expect(plain.stdout).not.toContain("\x1b");
    expect(plain.stdout).toContain("* held");
    for (const line of plain.stdout.split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("lets no ticket act on the terminal", async ({ namespace }) => {
    const evil = "a\x1b]52;c;eA==\x07\x9b2J\u202e\nb";
    const ticket = createTicket({ state: "held", host: evil, command: evil, label: evil, user: evil });
    const key = namespace.keys.lock("x", ticket.run);
    await namespace.put(key, serializeTicket(ticket));
    for (const view of ["overview", "queues", "runs", "hosts", "problems"])
      for (const more of [[], ["--json"]]) {
        const { code, stdout } = await namespace.execute(["ls", view, ...more]);
        expect({ view, code, acts: /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(stdout) }).toEqual({
          view,
          code: 0,
          acts: false,
        });
      }
  });
});
