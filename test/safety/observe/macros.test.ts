/** Resources with host macros in their names: `ls resources`, `ls macros` and `show resource`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const { test } = TestCluster.startForFile();

test("units on this host are summed, computed and listed by host", async ({ namespace }) => {
  await namespace.execute("resource set FQDN_mem int(MEMMB/16)+2 --yes");
  await namespace.jobs.startHolder("one", "--no-lock --lease FQDN_mem=2");

  const { rows } = await namespace.executeJson("ls resources --all");
  const sum = rows.find(({ name }: { name: string }) => name === "FQDN_mem");
  const own = rows.find(({ name }: { name: string }) => name.endsWith("_mem") && name !== "FQDN_mem");
  expect(sum).toMatchObject({ state: "held", used: 2, total: own.total, sum: { hosts: 1, waiting: 0 } });

  const shown = (await namespace.execute("show resource FQDN_mem")).stdout;
  expect(shown).toContain(`resource FQDN_mem: held, 2 of ${own.total} units held`);
  expect(shown).toMatch(
    new RegExp(`${own.total} = int\\(\\d+/16\\)\\+2 +2/${own.total} +#\\.{7} +0 +${own.name}`),
  );
  const detail = (await namespace.execute(["show", "resource", own.name])).stdout;
  expect(detail).toMatch(new RegExp(`total +${own.total} = int\\(\\d+/16\\)\\+2, from FQDN_mem`));

  const { stdout } = await namespace.execute("ls macros");
  expect(stdout).toMatch(/^HOST .* FQDN_mem /);
  expect(stdout).toContain(` 2/${own.total} `);
  const hosts = await namespace.executeJson("ls macros");
  expect(hosts.rows[0].shares).toMatchObject([
    { resource: own.name, template: "FQDN_mem", used: 2, total: own.total },
  ]);
  const terminal = { terminal: { columns: 80, rows: 24 } };
  const painted = namespace.start("ls macros", terminal);
  expect((await painted.ended).stdout).toContain("█░░░░░░░");
});

test("a run and a worker of one host with different macros: one total everywhere, and the page says so", async ({
  namespace,
}) => {
  const config = join(createTestFolder(), "config.json");
  writeFileSync(config, JSON.stringify({ macros: { CORES: 4 } }));
  const host = "web1.example.com";
  const env = { SIGNALBOX_HOST: host };
  const known = { env: { ...env, SIGNALBOX_CONFIG: config } };
  expect(await namespace.execute("resource set FQDN_cpu CORES --yes", known)).toExit(0);
  await namespace.jobs.startHolder("one", "--no-lock --lease FQDN_cpu=3", known);
  const readShares = async () => {
    const { rows } = await namespace.executeJson("ls macros"); // an agent's own host may be there too
    return rows.find((row: { host: string }) => row.host === host);
  };
  expect((await readShares()).shares).toMatchObject([
    { resource: "web1.example.com_cpu", used: 3, total: 4, formula: "4 = CORES" },
  ]);

  const worker = namespace.start("worker -v", { env });
  await worker.waitForOutput("worker joined");
  // The worker writes the record of the host over.
  await waitUntil(
    "the worker writes the record of the host",
    async () => (await readShares()).macros.CORES === undefined,
  );

  const dispute =
    "run and worker of this host have different macros: the last ticket states 4, the host record gives";
  const row = await readShares();
  expect(row).toMatchObject({ disputes: [expect.stringContaining(dispute)] });
  expect(row.shares).toMatchObject([{ used: 3, total: 4, isDisputed: true }]);
  const resources = await namespace.executeJson("ls resources --all");
  const totals = resources.rows.map(({ name, total }: { name: string; total: number }) => [name, total]);
  expect(Object.fromEntries(totals)).toEqual({ FQDN_cpu: 4, "web1.example.com_cpu": 4 });
  const shown = (await namespace.execute("show resource web1.example.com_cpu")).stdout;
  expect(shown).toContain("held, 3 of 4 units held");
  expect(shown).toContain(dispute);
  expect((await namespace.execute("show resource FQDN_cpu")).stdout).toContain("held, 3 of 4 units held");
  expect((await namespace.execute("ls problems")).stdout).toContain(dispute);
});
