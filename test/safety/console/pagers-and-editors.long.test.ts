/** Other programs on the console's terminal: pagers and editors that are scripts; and keys of etcd as they are. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { openConsole, switchTab } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { openTerminal, type Terminal } from "../../../fixtures/console.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";

const { test } = TestCluster.startForFile();

/** A folder of a test, and a script in it. */
function writeScript(namespace: TestNamespace, lines: string) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-external-"));
  namespace.onClose(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "program");
  writeFileSync(path, `#!/bin/bash\ncd ${folder}\n${lines}\n`);
  chmodSync(path, 0o755);
  return { path, folder };
}

async function setGroup(namespace: TestNamespace, ...members: string[]) {
  const { code, stderr } = await namespace.execute(["group", "set", "web", ...members, "--yes"]);
  expect([code, stderr.includes("error")]).toEqual([0, false]);
}

/** Opens a console on the tab Groups with the group web. */
async function openGroups(namespace: TestNamespace, env: Record<string, string>) {
  await setGroup(namespace, "web1.example.com");
  const terminal = await openConsole(namespace, { env });
  await switchTab(terminal, /web +.*web1/, 5);
  return terminal;
}

/** Waits until the console has the terminal again, live. */
async function waitForConsole(terminal: Terminal) {
  await terminal.waitFor(() => terminal.isAlternate && terminal.modes.has(1000));
  await terminal.waitFor(/live rev \d+/);
}

describe("the pager", () => {
  const WAITING =
    "cat > text; stty -a < /dev/tty > modes; echo PAGER; read -r line < /dev/tty; echo $line > typed";

  test("gets the whole table on a terminal as it was, and gives it back", async ({ namespace }) => {
    const { path, folder } = writeScript(namespace, WAITING);
    const terminal = await openGroups(namespace, { PAGER: path });
    await terminal.pressAndWait("p", "PAGER");
    expect(terminal.isAlternate).toBe(false);
    expect([1000, 1006, 2004].filter((mode) => terminal.modes.has(mode))).toEqual([]);
    expect(readFileSync(join(folder, "modes"), "utf8")).toMatch(/ icanon .* echo /s);
    expect(readFileSync(join(folder, "text"), "utf8")).toMatch(/GROUP.*\n *web .*web1.example.com/);
    await setGroup(namespace, "web1.example.com", "web2.example.com"); // is read meanwhile
    terminal.type("answer\rqqq");
    await waitForConsole(terminal);
    await terminal.waitFor(/web1.example.com web2/);
    expect(readFileSync(join(folder, "typed"), "utf8")).toBe("answer\n");
    terminal.press("q");
    expect(await terminal.ended).toExit(0);
    expect(terminal.leftBehind).toEqual([]);
  });

  test("is ended by Ctrl+C, but the console is not", async ({ namespace }) => {
    const { path } = writeScript(namespace, WAITING);
    const terminal = await openGroups(namespace, { PAGER: path });
    await terminal.pressAndWait("p", "PAGER");
    terminal.type("\x03");
    await waitForConsole(terminal);
    await terminal.waitFor("ended with SIGINT");
    await terminal.pressAndWait("?", "next tab");
  });

  test("is stopped with the console by Ctrl+Z, and goes on with fg", async ({ namespace }) => {
    const { path } = writeScript(namespace, WAITING);
    const shell = openTerminal({
      command: ["bash", "--norc", "-i"],
      endpoints: [namespace.etcd.clientUrl],
      env: { PS1: "ready$ ", PAGER: path, SIGNALBOX_PREFIX: namespace.prefix },
    });
    namespace.onClose(() => shell.close());
    await shell.waitFor("ready$");
    await shell.typeAndWait(`${process.execPath} ${BUNDLE} console\r`, /live rev \d+/);
    await shell.pressAndWait("p", "PAGER");
    await shell.pressAndWait("ctrl+z", "Stopped");
    expect([shell.isAlternate, shell.modes.has(1000)]).toEqual([false, false]);
    await shell.typeAndWait("fg\r", /console\s*$/); // the shell names the program that goes on
    shell.type("answer\r");
    await waitForConsole(shell);
    await shell.pressAndWait("q", /ready\$\s*$/); // the console has ended, and no longer reads what is typed
    await shell.typeAndWait("echo code $?\r", "code 0");
  });

  test("that is killed in its own modes leaves nothing of them", async ({ namespace }) => {
    const { path } = writeScript(
      namespace,
      "stty raw -echo < /dev/tty; printf '\\e[?1049h\\e[?1h\\e[?1003hKILLED SOON'; kill -9 $$",
    );
    const terminal = await openGroups(namespace, { PAGER: path });
    await terminal.pressAndWait("p", "ended with SIGKILL");
    await waitForConsole(terminal);
    terminal.press("q");
    expect(await terminal.ended).toExit(0);
    expect(terminal.leftBehind).toEqual([]);
  });

  test("that does not exist is named, with the remedy", async ({ namespace }) => {
    const terminal = await openGroups(namespace, { PAGER: "/nonexistent/pager" });
    await terminal.pressAndWait("p", "no pager pager (ENOENT); set PAGER");
    await waitForConsole(terminal);
  });

  test("gets the text of an overlay without control characters", async ({ namespace }) => {
    const { path, folder } = writeScript(namespace, "cat > text");
    await namespace.put(namespace.keys.group("evil"), '["a\\u001b]52;c;eA==\\u0007b"]');
    const terminal = await openConsole(namespace, { env: { PAGER: path } });
    await switchTab(terminal, /evil/, 5);
    await terminal.pressAndWait("V", "raw group evil", "first value");
    await terminal.pressAndWait(
      "p",
      () => existsSync(join(folder, "text")) && terminal.isAlternate,
      "raw group evil",
    );
    const text = readFileSync(join(folder, "text"), "utf8");
    expect(text).toContain("config/groups/evil");
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    expect(terminal.clipboard).toEqual([]);
  });
});

describe("the editor", () => {
  test("opens a private copy of what is shown, which is removed", async ({ namespace }) => {
    const { path, folder } = writeScript(
      namespace,
      'stat -c "%a %n" "$1" > seen; cp "$1" text; echo more >> "$1"',
    );
    const terminal = await openConsole(namespace, { env: { VISUAL: path } });
    await terminal.pressAndWait("4 E", "was a copy: your changes have no effect");
    const [mode, file = ""] = readFileSync(join(folder, "seen"), "utf8").trim().split(" ");
    expect(mode).toBe("600");
    expect(existsSync(file)).toBe(false);
  });

  test("that fails is named, and nothing is changed", async ({ namespace }) => {
    const { path } = writeScript(namespace, "exit 3");
    const terminal = await openGroups(namespace, { EDITOR: path });
    await terminal.pressAndWait("E", "ended with 3");
    await waitForConsole(terminal);
  });

  test("edits a group through preview and confirmation; a text with faults is kept and opened again", async ({
    namespace,
  }) => {
    const { path, folder } = writeScript(namespace, 'echo "$1" > file; cp "$1" text; sed -i -f change "$1"');
    writeFileSync(join(folder, "change"), 's/"web1.example.com"/"web1.example.com" "web2.example.com"/');
    const terminal = await openGroups(namespace, { EDITOR: path });
    await terminal.pressAndWait("E", "apply group web", "nothing was changed");
    await terminal.pressAndWait("escape", () => !terminal.getText().includes("apply group web"));
    writeFileSync(join(folder, "change"), 's/" "/", "/');
    await terminal.pressAndWait("E", /group web: \+ web2.example.com/);
    expect(readFileSync(join(folder, "text"), "utf8")).toContain('"web1.example.com" "web2.example.com"');
    await terminal.waitFor("Enter apply");
    await terminal.pressAndWait("enter", /web1.example.com web2/);
    const file = readFileSync(join(folder, "file"), "utf8").trim();
    await terminal.waitFor(() => !existsSync(file));
  });
});

describe("raw keys", () => {
  test("shows earlier values with their differences, in the console and as a command", async ({
    namespace,
  }) => {
    const terminal = await openGroups(namespace, {});
    await setGroup(namespace, "web1.example.com", "web2.example.com");
    await setGroup(namespace, "web2.example.com");
    await terminal.pressAndWait("V", "version 3, no lease", /- .*"web1.example.com"/);
    await terminal.pressAndWait(
      "down",
      /EARLIER VALUE: changed at revision \d+, version 2/,
      /\+ .*"web2.example.com"/,
    );
    await terminal.pressAndWait("down", "this is its first value");
    await terminal.pressAndWait("up up", "version 3, no lease");
    terminal.press("escape");
    const { keys } = await namespace.executeJson("show group web --raw --revisions 9");
    expect(keys).toMatchObject([
      { key: namespace.keys.group("web"), version: "3", earlier: [{ version: "2" }, { version: "1" }] },
    ]);
    expect(keys[0]).not.toHaveProperty("lease");
  });

  test("shows the lease of a ticket, and says where etcd has compacted", async ({ namespace }) => {
    const run = await namespace.jobs.startHolder("run", "--lock x");
    namespace.onClose(() => run.kill("SIGKILL"));
    const { stdout } = await namespace.execute("show lock x --raw");
    expect(stdout).toMatch(
      /created at revision \d+, changed at \d+, version \d+, lease [0-9a-f]+, \d+ s of \d+ s left/,
    );
    await setGroup(namespace, "a.example.com");
    await setGroup(namespace, "b.example.com");
    const { revision } = await namespace.store.readRange({ key: "x" });
    await namespace.etcd.runEtcdctl("compact", String(revision));
    const group = await namespace.execute("show group web --raw --revisions 5");
    expect(group.stdout).toContain("etcd has compacted the values before");
    const none = await namespace.execute("show group nothing --raw");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("nothing")]);
  });
});
