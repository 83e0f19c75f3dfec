/** Commands of the user's own: from the menu, the palette and their keys, as jobs and on the terminal. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const { test } = TestCluster.startForFile();

/** A lock whose name is a trap for every text that it is pasted into. */
const HOSTILE = "a$(touch trap)b;touch trap";

/** Opens a console with commands of the user's own, which run in a folder of the test. */
async function openWithCommands(namespace: TestNamespace) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-user-commands-"));
  namespace.onClose(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, "config.json");
  const userCommands = [
    {
      title: "note it",
      key: "F6",
      rows: ["lock"],
      command: `cd ${folder} && printf '%s\\n' "$KIND $NAME" > noted && echo noted "$HOST"`,
    },
    {
      title: "talk",
      rows: ["lock"],
      in: "foreground",
      command: `echo TALK; read -r line; echo "$line" > ${folder}/said`,
    },
    { title: "careful", rows: "any", confirm: true, command: `touch ${folder}/careful` },
    { title: "long one", rows: "any", command: `sleep 600 & echo $! > ${folder}/pid; echo begun; wait` },
    { title: "of hosts", rows: ["host"], command: "true" },
  ];
  writeFileSync(config, JSON.stringify({ userCommands }));
  await namespace.jobs.startAndWait("trap", ["--lock", HOSTILE], { hold: [60_000] });
  const terminal = await openConsole(namespace, {
    env: { SIGNALBOX_CONFIG: config },
    shows: /a\$\(touch trap\)b;touch trap +● held/,
  });
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  return { terminal, folder, read };
}

test("run as jobs from their key, with the names of rows as values and never as text", async ({
  namespace,
}) => {
  const { terminal, folder, read } = await openWithCommands(namespace);
  await terminal.pressAndWait("f6", /note it: noted \S+/);
  expect(read("noted")).toBe(`lock ${HOSTILE}\n`);
  expect(existsSync(join(folder, "trap"))).toBe(false);
  await terminal.pressAndWait(".", /talk[\s\S]*careful/);
  expect(terminal.getText()).not.toContain("of hosts");
});

test("get the terminal where they are for the foreground, and give it back", async ({ namespace }) => {
  const { terminal, read } = await openWithCommands(namespace);
  await terminal.pressAndWait(":", "palette");
  await terminal.typeAndWait("talk", "your own command");
  await terminal.pressAndWait("enter", "TALK");
  expect(terminal.isAlternate).toBe(false);
  await terminal.typeAndWait("hello\r", /live rev \d+/);
  expect(read("said")).toBe("hello\n");
});

test("ask where they should, and end with the console", async ({ namespace }) => {
  const { terminal, folder, read } = await openWithCommands(namespace);
  const choose = async (title: string) => {
    await terminal.pressAndWait(":", "palette");
    await terminal.typeAndWait(title, "your own command");
    terminal.press("enter");
  };
  await choose("careful");
  await terminal.waitFor(/touch .*careful[\s\S]*Enter run/);
  terminal.press("escape");
  await choose("careful");
  await terminal.waitFor("Enter run");
  expect(existsSync(join(folder, "careful"))).toBe(false);
  await terminal.pressAndWait("enter", "careful: done");
  expect(existsSync(join(folder, "careful"))).toBe(true);
  await choose("long one");
  await terminal.waitFor(/running .*long one .*begun/);
  const pid = Number(read("pid"));
  await terminal.pressAndWait("q", "press again to quit anyway");
  terminal.press("q");
  expect(await terminal.ended).toEqual({ code: 0, signal: undefined });
  await waitUntil("the command has ended", () => !existsSync(`/proc/${pid}`));
});
