/** A line of the palette does what it says. */
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const { test } = TestCluster.startForFile();

test("why, drain and reset, each in a line; a host comes before its resources", async ({ namespace }) => {
  const env = { SIGNALBOX_HOST: "web1.example.com" };
  await namespace.execute("resource set FQDN_cpu 4 --yes");
  await namespace.jobs.startHolder("one", "--lock nightly-db --lease FQDN_cpu=3", { env });
  await namespace.jobs.startWaiter("two", "--lock nightly-db --wait", { env });
  const console = await openConsole(namespace, { columns: 80, rows: 24, shows: /nightly-db +● held/ });
  const type = async (line: string, shows: string | RegExp) => {
    await console.pressAndWait(":", "─ palette ─");
    await console.typeAndWait(line, /^[^\n]*│▎. \S/m);
    await console.pressAndWait("enter", shows);
  };
  const close = (title: string) => console.pressAndWait("escape", (it) => !it.getText().includes(title));

  await type("drain web1", "─ drain host web1.example.com ─");
  await close("─ drain host");
  await type("reset nightly", "─ reset lock nightly-db ─");
  await close("─ reset lock");
  await type("why ndb", /why .*nightly-db/);
  await close("─ why");
  await type("web1", "host web1.example.com: busy");
  await console.pressAndWait("D", "─ drain host web1.example.com ─");
});
