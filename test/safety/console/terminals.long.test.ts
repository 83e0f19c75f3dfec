/** The console on different terminals, and without a terminal: nothing is missing, and all characters can be shown. */

import { describe, expect } from "vitest";
import { openConsole, pressUntil } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const HELD = ["until", "/nonexistent"];

/** The keys of views and dialogs of a row, and how their titles begin. */
const VIEW_TITLES = [
  ...(Object.entries({ t: "timeline", i: "what if", w: "why", V: "raw" }) as [string, string][]),
  ...(Object.entries({ o: "columns", ".": "lock", "?": "keys" }) as [string, string][]),
  ...(Object.entries({ ":": "palette", D: "drain", X: "reset", a: "show a past" }) as [string, string][]),
] as const;

/** A lock that is held, one that is waited for and drained, one that is free. */
async function createSampleNamespace(): Promise<TestNamespace> {
  const namespace = await cluster.createTestNamespace();
  await namespace.execute("run --lock free-one -- true");
  await namespace.jobs.startHolder("a", "--lock held-one");
  await namespace.jobs.startWaiter("b", "--lock held-one --wait", { hold: HELD });
  await namespace.execute("drain lock held-one --reason 'a test' --yes");
  return namespace;
}

describe("where there are no colours", () => {
  test.each([
    ["NO_COLOR", { NO_COLOR: "1" }],
    ["a terminal without any", { TERM: "vt220" }],
  ])("for %s, the same is said in words and signs", async (_what, env) => {
    const namespace = await createSampleNamespace();
    const console = await openConsole(namespace, { env, shows: /held-one +● held, drained/ });
    await console.waitFor(/free-one +○ free/);
    const cells = console.getCells().flat();
    expect(
      cells.filter(({ foreground, background }) => foreground !== undefined || background !== undefined),
    ).toEqual([]);
    const row = console.getCells().find((line) =>
      line
        .map(({ text }) => text)
        .join("")
        .includes("free-one "),
    );
    expect(row?.some(({ inverse }) => inverse)).toBe(true);
  });
});

test.each([
  ["--ascii", ["--ascii"], {}],
  ["a locale without UTF-8", [], { LANG: "C", LC_ALL: "C" }],
])("with %s there is nothing but ASCII, dialogs and help too", async (_what, args, env) => {
  const namespace = await createSampleNamespace();
  const console = await openConsole(namespace, { args, env, shows: /held-one +\* held, drained/ });
  const isAscii = () => expect(console.getText()).toMatch(/^[ -~\n]*$/);
  isAscii();
  await console.pressAndWait("D", "signalbox drain lock free-one --wait");
  isAscii();
  await console.pressAndWait("escape", (it) => !it.getScreen().some((row) => row.includes("+- drain")));
  await console.pressAndWait("?", "find a command");
  isAscii();
});

describe("on a small terminal", () => {
  test("of 80x24 everything can be done", async () => {
    const namespace = await createSampleNamespace();
    const console = await openConsole(namespace, {
      columns: 80,
      rows: 24,
      shows: /held-one +● held, drained/,
    });
    await console.pressAndWait("1", "▾ Locks");
    await console.pressAndWait("2 j X", "type held-one to confirm");
    console.type("held-one");
    await pressUntil(console, "enter", /reset lock held-one: /); // typed before the terminal has shown the preview
    expect((await namespace.listTickets()).length).toBeLessThan(2);
  });

  test("of 80x24 a message is shown while a job runs", async () => {
    const namespace = await createSampleNamespace();
    const console = await openConsole(namespace, { columns: 80, rows: 24, shows: /held-one +● held/ });
    await console.pressAndWait("j D", "Enter drain");
    await console.pressAndWait("enter", "→ drain lock held-one");
    await console.pressAndWait("n", /live rev .* create groups, resources/);
  });

  test("of 40x10 the rows and the state of things are there", async () => {
    const namespace = await createSampleNamespace();
    const console = await openConsole(namespace, { columns: 40, rows: 10, shows: /held-one +● held/ });
    expect(console.getScreen().every((row) => row.length <= 40)).toBe(true);
  });

  test("of 40x10 each view and each dialog has both its edges, without colours too", async () => {
    const namespace = await createSampleNamespace();
    const env = { SIGNALBOX_THEME: "mono" };
    const console = await openConsole(namespace, { columns: 40, rows: 10, env, shows: /held-one +● held/ });
    console.press("j");
    for (const [key, title] of VIEW_TITLES) {
      await console.pressAndWait(key, new RegExp(`╭─ ${title}`));
      const screen = console.getScreen();
      expect(
        screen.find((row) => row.includes("╰")),
        `${title}\n${screen.join("\n")}`,
      ).toBeDefined();
      expect(screen.every((row) => row.length <= 40)).toBe(true);
      await console.pressAndWait("escape", (it) => !it.getScreen().some((row) => row.includes("╭")));
    }
  });
});

describe("--plain", () => {
  test("reads each view and each dialog", async () => {
    const namespace = await createSampleNamespace();
    const console = await openConsole(namespace, { args: ["--plain"], shows: "Locks, row 1 of 2" });
    await console.pressAndWait("j", "Locks, row 2 of 2");
    // Palette and help have more lines than a screen.
    for (const [key, title] of VIEW_TITLES.filter(([, one]) => one !== "palette" && one !== "keys")) {
      await console.pressAndWait(key, new RegExp(`^\\W*${title}`, "m"));
      await console.pressAndWait("escape", (it) => /row 2 of 2[^\n]*\n[^\n]*$/.test(it.getText().trim()));
    }
    console.press("q");
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
  });

  test("tells where one is in lines, and moves nothing", async () => {
    const namespace = await createSampleNamespace();
    const console = await openConsole(namespace, {
      args: ["--plain"],
      shows: "Locks, row 1 of 2: name free-one, state free",
    });
    await console.pressAndWait("j", "Locks, row 2 of 2: name held-one, state held, drained");
    await console.pressAndWait("D", "Enter: drain");
    await console.pressAndWait(
      "escape",
      (it) => it.getScreen().filter((row) => row.includes("row 2 of 2")).length === 2,
    );
    console.press("q");
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
    expect([console.isAlternate, console.leftBehind]).toEqual([false, []]);
  });
});

describe("--once", () => {
  test.each([
    ["locks", "160x50"],
    ["queues", "80x24"],
    ["drains", "100x30"],
  ])("prints %s at %s as text, and ends", async (view, size) => {
    const namespace = await createSampleNamespace();
    const { code, stdout } = await namespace.execute(["console", "--once", "--view", view, "--size", size]);
    const rows = stdout.split("\n").slice(0, -1);
    expect({ code, rows: rows.length }).toEqual({ code: 0, rows: Number(size.split("x")[1]) });
    expect(stdout).toContain("held-one");
    expect(stdout).not.toContain("\x1b");
    expect(rows.at(-1)).toMatch(/live rev \d+/);
  });

  test("says by its code that etcd is not there", async ({ namespace }) => {
    const args = ["console", "--once", "--size", "80x24", "--connect-timeout", "500ms"];
    expect(await namespace.execute(args, { endpoints: ["http://127.0.0.1:1"] })).toExit(69, {
      stdout: /connecting for|etcd unreachable/,
    });
  });
});

test("without a terminal says what does without one", async ({ namespace }) => {
  expect(await namespace.execute("console")).toExit(64, { stderr: /needs a terminal.*signalbox ls --watch/ });
});
