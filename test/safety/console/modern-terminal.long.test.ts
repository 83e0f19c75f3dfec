/** A terminal that codes its keys (kitty's protocol), and reports changes of its theme. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { openConsole, openConsoleInShell } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

async function openModern(namespace: TestNamespace, env: Record<string, string> = {}) {
  const console = await openConsole(namespace, {
    isModern: true,
    env,
    shows: (it) => it.hasCodedKeys && it.modes.has(2031),
  });
  return console;
}

describe("keys and theme", () => {
  test("Escape is a key at once, and no report is one", async ({ namespace }) => {
    const console = await openModern(namespace);
    await console.pressAndWait(":", "palette");
    await console.typeAndWait("\x1b[27u", (it) => !it.getScreen().some((row) => row.includes("╭")));
    console.type("\x1b[113u"); // q
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
    expect(console.leftBehind).toEqual([]);
  });

  test("all colours are used that the terminal has, also if it announces 256, or sixteen", async ({
    namespace,
  }) => {
    for (const TERM of ["xterm-256color", "xterm"]) {
      const console = await openModern(namespace, { TERM });
      const getGround = () => console.getCells()[0]?.[0]?.background;
      await console.waitFor(() => /^#/.test(String(getGround())));
      expect(console.getText()).not.toMatch(/524742|48;2/);
    }
    const plain = await openConsole(namespace, {});
    expect(plain.getCells()[0]?.[0]?.background).toEqual(expect.any(Number));
  });

  test("the theme follows the terminal, and its reports type nothing", async ({ namespace }) => {
    const console = await openModern(namespace);
    const getGround = () => console.getCells()[0]?.[0]?.background;
    const dark = getGround();
    console.press("/");
    console.changeTheme(true);
    await console.waitFor(() => getGround() !== dark);
    console.changeTheme(false);
    await console.waitFor(() => getGround() === dark);
    expect(console.getText()).not.toMatch(/997|;1n|;2n/);
  });
});

describe("links", () => {
  const open = (namespace: TestNamespace, more: Parameters<typeof openConsole>[1] = {}) =>
    openConsole(namespace, { isRecorded: true, columns: 160, view: "problems", ...more });
  const getOutput = (console: Terminal) => console.recording.map(({ text }) => text).join("");
  const PAGE = /\x1b\]8;;file:\/\/[\w.-]+\/[!-~]*docs\/console\.md\x1b\\docs\/console\.md\x1b\]8;;\x1b\\/;

  test("lead to pages of the documentation, and take no columns", async ({ namespace }) => {
    const linked = await open(namespace, { env: { VTE_VERSION: "7006" } });
    const plain = await open(namespace, { args: ["--no-hyperlinks"], env: { VTE_VERSION: "7006" } });
    for (const console of [linked, plain]) {
      await console.pressAndWait("?", "keys");
      await console.pressAndWait("G", "see docs/console.md");
    }
    expect(getOutput(linked)).toMatch(PAGE);
    expect(getOutput(plain)).not.toContain("\x1b]8;");
    const getRows = (console: Terminal) =>
      console
        .getScreen()
        .slice(0, -1)
        .filter((row) => /[│╰╭]/.test(row));
    expect(getRows(linked)).toEqual(getRows(plain));
  });

  test("are not written to a terminal that may show them as text", async ({ namespace }) => {
    const console = await open(namespace, { env: { TMUX: "x", VTE_VERSION: "7006" } });
    await console.pressAndWait("? G", "see docs/console.md");
    expect(getOutput(console)).not.toContain("\x1b]8;");
  });
});

describe("every way out", () => {
  test.for([["q", 0] as const, ["SIGTERM", 143] as const, ["SIGHUP", 129] as const])(
    "%s leaves keys, reports and progress as they were",
    async ([way, code], { onTestFinished: onFinished }) => {
      const namespace = await cluster.createTestNamespace("http", { onTestFinished: onFinished });
      const console = await openConsole(namespace, { isModern: true, shows: (it) => it.hasCodedKeys });
      await console.pressAndWait("[ [ [", /live rev \d+/);
      if (way === "q") console.press("q");
      else console.kill(way);
      expect(await console.ended).toEqual({ code, signal: undefined });
      expect(console.leftBehind).toEqual([]);
    },
  );

  test("a defect does too", async ({ namespace }) => {
    const script = join(createTestFolder(), "defect.cjs");
    writeFileSync(script, 'process.on("SIGUSR2", () => { throw new Error("a defect for a test"); });');
    const console = await openModern(namespace, { NODE_OPTIONS: `--require ${script}` });
    expect(await console.end("SIGUSR2")).toEqual({ code: 70, signal: undefined });
    expect(console.leftBehind).toEqual([]);
  });

  test("Ctrl+Z gives them back, and fg takes them again", async ({ namespace }) => {
    const shell = await openConsoleInShell(namespace, { isModern: true });
    await shell.waitFor((it) => it.hasCodedKeys);
    await shell.typeAndWait("\x1b[122;5u", "Stopped");
    expect([shell.hasCodedKeys, shell.modes.has(2031)]).toEqual([false, false]);
    await shell.typeAndWait("fg\r", (it) => it.hasCodedKeys && it.modes.has(2031));
    await shell.pressAndWait("q", /ready\$\s*$/);
    expect(shell.leftBehind.filter((what) => !/2004/.test(what))).toEqual([]);
    expect(shell.getText()).not.toMatch(/997|\[\?|;1n/);
  });
});
