/** The tab Macros: hosts by resources, and what keys do to a cell. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const { test } = TestCluster.startForFile();

test("at 80x24: cells say where their total is from, open, and are edited and drained", async ({
  namespace,
}) => {
  const config = join(createTestFolder(), "config.json");
  writeFileSync(config, JSON.stringify({ macros: { CORES: 4 } }));
  const env = { SIGNALBOX_HOST: "web1.example.com", SIGNALBOX_CONFIG: config };
  for (const setting of ["FQDN_cpu CORES --order 1", "FQDN_mem 5*CORES --order 2"])
    expect(await namespace.execute(`resource set ${setting} --yes`, { env })).toExit(0);
  await namespace.jobs.startHolder("one", "--no-lock --lease FQDN_cpu=3", { env });
  const worker = namespace.start("worker -v", { env: { SIGNALBOX_HOST: "web1.example.com" } });

  const size = { columns: 80, rows: 24, view: "macros", env };
  const console = await openConsole(namespace, { ...size, shows: /web1\.example\.com +(! )?3\/4 ▇+▁+/ });
  await worker.waitForOutput("worker joined");
  await console.waitFor("run and worker of this host have different macros");
  await console.pressAndWait("right", 'web1.example.com_mem  "5*CORES": there is no macro "CORES"');
  await console.pressAndWait("left", /held, 3 of 4 units held/);
  await console.pressAndWait("e", "─ resource set resource web1.example.com_cpu ─");
  await console.pressAndWait("escape", (it) => !it.getText().includes("─ resource set"));
  await console.pressAndWait("D", "─ drain host web1.example.com ─");
  await console.pressAndWait("escape", /held, 3 of 4 units held/);
  await console.pressAndWait("left", "web1.example.com  CPU="); // the host itself
  await console.pressAndWait("enter", "host web1.example.com: ");
});
