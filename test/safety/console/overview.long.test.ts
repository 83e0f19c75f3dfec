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
