import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { holdLock } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Locks that are held on hosts, without runs. */
async function createSampleNamespace() {
  const namespace = await cluster.createTestNamespace();
  const locks = { alpha: "web1", beta: "web2", gamma: "db1", "=delta": "web1" };
  for (const [lock, host] of Object.entries(locks)) {
    await holdLock(namespace, lock, { host: `${host}.example.com`, user: "ann" });
  }
  return namespace;
}

/** The line with the titles of the columns. */
function getTitles(console: Terminal) {
  return console.getScreen().find((row) => /\bNAME\b.*\bSTATE\b|\bSTATE\b.*\bNAME\b/.test(row)) ?? "";
}

async function findRow(console: Terminal, pattern: RegExp) {
  await console.waitFor(pattern);
  return console.getScreen().findIndex((row) => pattern.test(row));
}

test("shows columns on demand, moves them, and still does after a restart", async () => {
  const namespace = await createSampleNamespace();
  const env = { XDG_STATE_HOME: createTestFolder() };
  const console = await openConsole(namespace, { env, shows: /gamma +● held/ });
  expect(getTitles(console)).not.toContain("USER");
  await console.pressAndWait("o", "─ columns of locks ", /LABEL +hidden: no values/);
  console.press("end");
  console.type("kkkk"); // five columns are shown on demand; the first of them is USER
  await console.pressAndWait("space", "✓ USER");
  console.press("home");
  console.type("J"); // the name behind the state
  await console.pressAndWait("escape", (it) => /STATE.*NAME.*USER/.test(getTitles(it)));
  console.press("q");
  await console.ended;
  const next = await openConsole(namespace, { env, shows: (it) => /STATE.*NAME.*USER/.test(getTitles(it)) });
  await next.pressAndWait("o", "─ columns of locks ");
  next.type("r");
  await next.pressAndWait(
    "enter",
    (it) => /NAME.*STATE/.test(getTitles(it)) && !getTitles(it).includes("USER"),
  );
});

test("sorts by the title that is clicked, and the other way round with the next click", async () => {
  const console = await openConsole(await createSampleNamespace());
  const row = await findRow(console, /NAME ▲/);
  await console.waitFor(/gamma +● held/);
  const column = (console.getScreen()[row] ?? "").indexOf("HOLDER");
  const click = () => console.click(column + 3, row);
  click();
  await console.waitFor("HOLDER ▲");
  const order = (it: Terminal) =>
    it
      .getScreen()
      .flatMap((line) => /│[ ▎] (\S+) +● held/.exec(line)?.[1] ?? [])
      .join(" ");
  await console.waitFor((it) => order(it) === "gamma =delta alpha beta");
  click();
  await console.waitFor("HOLDER ▼");
  await console.waitFor((it) => order(it) === "beta =delta alpha gamma");
});

test("says what is wrong with a filter while it is typed, and keeps the rows", async () => {
  const console = await openConsole(await createSampleNamespace(), { shows: /gamma +● held/ });
  await console.pressAndWait("/", "─ filter locks ");
  await console.typeAndWait("/^(al/", "unterminated group");
  await console.pressAndWait("enter", "─ filter locks ");
  expect(console.getScreen().some((row) => /gamma +● held/.test(row))).toBe(true);
  console.press("backspace");
  await console.typeAndWait("|be)/", "2 of 4");
  console.press("ctrl+u");
  console.type("!host:web1 since:>1s");
  await console.pressAndWait("enter", "/ filter !host:web1 since:>1s: 2 of 4");
});

test("saves a view under a name, and starts with it after a restart", async () => {
  const namespace = await createSampleNamespace();
  const env = { XDG_STATE_HOME: createTestFolder() };
  const console = await openConsole(namespace, { env, shows: /gamma +● held/ });
  await console.pressAndWait("/", "─ filter locks ");
  console.type("host:web1");
  await console.pressAndWait("enter", "/ filter host:web1: 2 of 4");
  await console.pressAndWait("F", "No saved views yet");
  await console.typeAndWait("s", "name ");
  console.type("web one");
  await console.pressAndWait("enter", /web one +locks +\/host:web1/);
  await console.typeAndWait("m", /✓ web one +locks +\/host:web1, at start/);
  await console.pressAndWait("escape", (it) => !it.getScreen().some((row) => row.includes("─ saved views ")));
  await console.pressAndWait("escape ]", "No units are held");
  console.press("q");
  await console.ended;
  const next = await openConsole(namespace, { env, shows: "/ filter host:web1: 2 of 4" });
  await next.pressAndWait("F", "✓ web one");
  await next.typeAndWait("d", "press d again to delete");
  await next.typeAndWait("d", "No saved views yet");
});

test("draws the past runs of a lock in its detail, and in a column on demand", async ({ namespace }) => {
  for (const time of ["0.01", "0.3"])
    await namespace.execute(["run", "--lock", "often", "--", "sleep", time]);
  const console = await openConsole(namespace, { shows: /often +○ free/ });
  await console.waitFor(/held +[▁▂▃▅▇]{2} min 0s, median 0s, max 0s of 2 runs/);
  await console.pressAndWait("o end k space escape", "TREND", /often +○ free .*[▁▂▃▅▇]{2}/);
  const { stdout } = await namespace.execute("ls locks -a --columns name,trend");
  expect(stdout).toMatch(/^often +[_.\-=#]{2}$/m);
});

test("ls has the same filters, and prints tables for other programs", async () => {
  const namespace = await createSampleNamespace();
  const list = async (...words: string[]) => {
    const { stdout, stderr, code } = await namespace.execute(["ls", "locks", ...words]);
    return [stdout, stderr, code];
  };
  const columns = ["--columns", "name,state"];
  expect(await list("!host:web1", "/^(be|al)/", "--output", "csv", ...columns)).toEqual([
    "name,state\r\nbeta,held\r\n",
    "",
    0,
  ]);
  expect(await list("=del", "--output", "markdown", ...columns)).toEqual([
    "# locks\n\n| NAME | STATE |\n| --- | --- |\n| =delta | held |\n",
    "",
    0,
  ]);
  for (const [words, fault] of [
    [["/(/"], /wrong filter: pattern "\(": unterminated group/],
    [["--output", "csv", "--json"], /give --json or --output, not both/],
    [["--output", "csv", "--watch"], /--output cannot be combined with --watch/],
  ] as const) {
    const [stdout, stderr, code] = await list(...words);
    expect([stdout, code]).toEqual(["", 64]);
    expect(stderr).toMatch(fault);
  }
});
