/** Doctor in the console: its findings in columns and colours, and its remedies, which Enter applies. */
import { expect } from "vitest";
import { openConsole, pressUntil } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Returns where a text is on the screen, and its first cell. */
function findText(console: Terminal, text: string) {
  const row = console.getScreen().findIndex((line) => line.includes(text));
  const column = (console.getScreen()[row] ?? "").indexOf(text);
  return { row, column, cell: console.getCells()[row]?.[column] };
}

/** The lines that the selection is on. */
function findSelection(console: Terminal) {
  return JSON.stringify(console.getScreen().flatMap((row, at) => (row.includes("▎") ? [at] : [])));
}

/** Moves the selection to the finding with a text. */
async function select(console: Terminal, text: string) {
  const isSelected = () => {
    const { background } = findText(console, text).cell ?? {};
    return (
      JSON.stringify(background) !== JSON.stringify(findText(console, "ok      transport").cell?.background)
    );
  };
  while (!isSelected()) {
    const before = findSelection(console);
    await console.pressAndWait("down", (it) => findSelection(it) !== before);
  }
}

test("has columns and colours, and Enter opens the dialog of a remedy or copies its line", async ({
  namespace,
}) => {
  const now = Date.now();
  const drain = serializeDrain({ by: "ann@ops1", at: now - 9e6, until: now - 3e6 });
  await namespace.put(namespace.keys.drain("lock", "dns-sync"), drain);
  const console = await openConsole(namespace, { view: "locks", columns: 140, rows: 50 });
  console.type(":doctor");
  await pressUntil(console, "enter", /drain of lock dns-sync[\s\S]*→ signalbox undrain lock dns-sync/);
  expect(findText(console, "alarms").column).toBe(findText(console, "drain of lock dns-sync").column);
  expect(findText(console, "signalbox undrain").column).toBe(findText(console, "it ended by itself").column);
  const colours = ["ok      alarms", "warning drain", "alarms"].map((text) =>
    JSON.stringify(findText(console, text).cell?.foreground),
  );
  expect(new Set(colours).size).toBe(3);
  await select(console, "for production");
  await console.pressAndWait("enter", "copied the remedy");
  expect(console.clipboard.at(-1)).toBe("for production, three or five members");
  await select(console, "signalbox undrain lock dns-sync");
  await console.pressAndWait("enter", /─ undrain lock dns-sync[\s\S]*Enter undrain/);
  await console.pressAndWait(
    "enter",
    (it) => findText(it, "ok      alarms").row > 0 && findText(it, "warning drain of lock").row < 0,
  );
  expect((await namespace.store.readRange(namespace.keys.drains())).count).toBe(0);
});

test("shows each finding as it comes", async ({ namespace }) => {
  const interceptor = await namespace.interceptRequests();
  const console = await openConsole(namespace, { endpoints: [interceptor.endpoint], columns: 140, rows: 50 });
  const caught = interceptor.interceptNext(/\/v3\/cluster\/member\/list/, "answers");
  console.type(":doctor");
  await pressUntil(console, "enter", /ok +guardian [\s\S]*member http[\s\S]*checking/);
  const connection = await caught;
  expect(console.getText()).not.toContain("permissions");
  connection.release();
  await console.waitFor((it) => findText(it, "alarms").row > 0 && findText(it, "checking").row < 0);
});
