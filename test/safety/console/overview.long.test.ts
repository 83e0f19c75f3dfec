/** The first tab of the console: the site on one picture, with what needs attention below it. */
import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test.each([
  [80, 24],
  [120, 40],
  [200, 55],
])(
  "at %ix%i it counts, names the busiest queues and the last failures, and follows",
  async (columns, rows) => {
    const namespace = await cluster.createTestNamespace();
    await namespace.execute("run --lock broken -- sh -c 'exit 3'");
    await namespace.jobs.startAndWait("holder", "--lock busy", { hold: [60_000] });
    const console = await openConsole(namespace, {
      columns,
      rows,
      view: "overview",
      shows: /1 held[\s\S]*HOSTS[\s\S]*ACTIVITY[\s\S]*lock broken.*exit 3/,
    });
    namespace.jobs.start("waiter", "--lock busy --wait", { hold: [60_000] });
    await console.waitFor(/1 waiting[\s\S]*BUSIEST QUEUES[\s\S]*busy .* 1 /);
    expect(console.getScreen().every((row) => row.length <= columns)).toBe(true);
  },
);

test("what needs attention is a list: Enter leads to the remedy", async ({ namespace }) => {
  const key = namespace.keys.lock("x", "0123456789abcdef");
  await namespace.put(key, "{");
  const console = await openConsole(namespace, {
    columns: 120,
    rows: 40,
    view: "overview",
    shows: /ACTIVITY[\s\S]*▲ failure +malformed +lock x/,
  });
  await console.pressAndWait("enter", /reset lock x[\s\S]*Esc cancel/);
});

test("each part of the picture can be selected and opened", async ({ namespace }) => {
  await namespace.execute("schedule add nightly '0 3 * * *' -- true");
  await namespace.jobs.startAndWait("holder", "--lock busy", { hold: [60_000] });
  namespace.jobs.start("waiter", "--lock busy --wait", { hold: [60_000] });
  const console = await openConsole(namespace, {
    columns: 160,
    rows: 50,
    view: "overview",
    shows: /busy +\S+ 1 [\s\S]*etcd 1\/1 member[\s\S]*quota/,
  });
  const click = (text: RegExp, times: number) => {
    const line = console.getScreen().findIndex((row) => text.test(row));
    const column = console.getScreen()[line]?.search(text) ?? -1;
    for (let time = 0; time < times; time++) console.click(column + 2, line);
  };
  // From the table to the limits of etcd, and to its members.
  await console.pressAndWait("up", "Enter open");
  await console.pressAndWait("enter", "ENDPOINT");
  console.press("<");
  // What a key does is what it does to the lock.
  await console.waitFor("BUSIEST");
  click(/busy +[▁-█]{4}/, 1);
  await console.waitFor("Overview › busy");
  await console.pressAndWait("right", "Overview › nightly");
  await console.pressAndWait("left", "X reset");
  await console.pressAndWait("X", /reset lock busy[\s\S]*Esc cancel/);
  await console.pressAndWait("escape", (one) => !one.getText().includes("Esc cancel"));
  await console.pressAndWait("enter", "HOLDER");
  await console.pressAndWait("escape", "HOLDER");
  console.press("<");
  // A click selects, a second one opens: a counter leads to its listing.
  await console.waitFor("ACTIVITY");
  click(/1 schedule/, 2);
  await console.waitFor(/SCHEDULE +STATE[\s\S]*nightly/);
});
